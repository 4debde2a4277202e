import { RuntimeError } from '../errors';
import { invalid } from '../fields';
import type {
  Batch,
  Evaluator,
  EvaluatorSpec,
  StepColumns,
  StepOptions,
  StepTicket,
  Trainer,
  TrainerSpec,
} from '../training';
import type { Hyper } from '../vocabulary';
import type { Command, Replies } from '../wire';
import { BatchCheck } from './batch';
import type { AddBlob, Connection, Issuer, Ticketed } from './connection';
import { copyOf } from './host-data';
import type { RemoteHandle } from './refs';
import { StepWindow } from './window';

/** Losses that tickets can still ask for. */
const KEPT_LOSSES = 4096;

type Columns = { -readonly [K in keyof StepColumns]: StepColumns[K] };

/** Where a trainer or evaluator lives and how it tells the time. */
export interface Seat {
  readonly connection: Connection;
  readonly issuer: Issuer;
  readonly handle: RemoteHandle;
  now(): number;
}

function rowsOf(
  batch: Extract<Batch, { rows: Int32Array }>,
  used: readonly string[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(used.map((name) => [name, batch.from[name]!.id]));
}

function hostFields(batch: Extract<Batch, { host: unknown }>, used: readonly string[], blob: AddBlob) {
  return Object.fromEntries(
    used.map((name) => {
      const { shape, dtype, data } = batch.host[name]!;
      return [name, { shape, dtype, data: blob(copyOf(data)) }];
    }),
  );
}

function joinColumns(a: StepColumns | null, b: StepColumns): StepColumns {
  if (!a) return b;
  const joined: Record<string, unknown> = { seconds: a.seconds + b.seconds };
  for (const name of Object.keys(b) as (keyof StepColumns)[]) {
    const [first, second] = [a[name], b[name]];
    if (typeof first !== 'object' || typeof second !== 'object') continue;
    const column = new (second.constructor as new (length: number) => Float32Array)(first.length + second.length);
    column.set(first);
    column.set(second, first.length);
    joined[name] = column;
  }
  return joined as unknown as Columns;
}

export class ClientTrainer implements Trainer {
  private readonly window: StepWindow;
  private readonly check: BatchCheck;
  private readonly from: Ticketed;
  private accepted = 0;
  private closed = false;
  /** Rows that a ticket's read brought along, for the next `collect`. */
  private waiting: StepColumns | null = null;
  private readonly losses = new Map<number, number>();
  private reading: { readonly upTo: number; readonly done: Promise<void> } | null = null;

  constructor(
    private readonly seat: Seat,
    spec: TrainerSpec,
    signal: AbortSignal | undefined,
  ) {
    if (spec.window !== undefined && !(Number.isInteger(spec.window) && spec.window >= 1)) {
      throw invalid(`trainer: window must be a whole number of at least 1, got ${spec.window}`);
    }
    this.from = { issuer: seat.issuer, outs: [seat.handle.id] };
    this.check = new BatchCheck(spec.module.spec, spec.feed, spec.loss, 'train');
    this.window = new StepWindow(seat.connection, () => seat.now(), spec.window, signal);
  }

  setHyper(hyper: Hyper): void {
    this.checkOpen();
    this.seat.connection.send(this.from, ['hyper', this.seat.handle.id, { ...hyper }]);
  }

  async step(batch: Batch, options: StepOptions = {}): Promise<StepTicket> {
    const { apply = true, scale = 1 } = options;
    const { connection, handle } = this.seat;
    this.checkOpen();
    await this.window.enter(() => {
      this.checkOpen();
      const used = this.check.check(batch);
      return connection.send(this.from, (blob): Command => {
        return 'host' in batch
          ? ['stepHost', handle.id, hostFields(batch, used, blob), apply, scale]
          : ['step', handle.id, rowsOf(batch, used), blob(copyOf(batch.rows)), apply, scale];
      });
    });
    const index = this.accepted++;
    return { index, loss: () => this.lossOf(index) };
  }

  discard(): void {
    this.checkOpen();
    this.seat.connection.send(this.from, ['discard', this.seat.handle.id]);
  }

  async collect(): Promise<StepColumns> {
    await this.readColumns();
    const columns = this.waiting!;
    this.waiting = null;
    return columns;
  }

  async scalerState(): Promise<Record<string, number> | null> {
    this.checkOpen();
    return this.ask<Replies['scaler']>(['scaler', this.seat.handle.id, null]);
  }

  loadScalerState(state: Record<string, number>): void {
    this.checkOpen();
    this.seat.connection.send(this.from, ['scaler', this.seat.handle.id, { ...state }]);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.window.close();
    if (!this.seat.handle.freed) this.seat.handle.release();
  }

  private checkOpen(): void {
    if (this.closed || this.seat.handle.freed) {
      throw new RuntimeError('handle_freed', 'the trainer was closed', { label: this.seat.issuer.label });
    }
    this.seat.connection.checkFailed(this.seat.handle.id, this.seat.issuer);
  }

  private ask<T>(command: Command): Promise<T> {
    return this.seat.connection.ask<T>({ issuer: this.seat.issuer }, command);
  }

  private async readColumns(): Promise<void> {
    this.checkOpen();
    const columns = await this.ask<Replies['collect']>(['collect', this.seat.handle.id]);
    this.waiting = joinColumns(this.waiting, columns);
    columns.index.forEach((index, row) => this.losses.set(index, columns.loss[row]!));
    while (this.losses.size > KEPT_LOSSES) this.losses.delete(this.losses.keys().next().value!);
  }

  private async lossOf(index: number): Promise<number> {
    if (!this.losses.has(index)) {
      if (!this.reading || this.reading.upTo <= index) {
        const reading = { upTo: this.accepted, done: this.readColumns() };
        this.reading = reading;
        const forget = () => {
          if (this.reading === reading) this.reading = null;
        };
        reading.done.then(forget, forget);
      }
      await this.reading.done;
    }
    const loss = this.losses.get(index);
    if (loss === undefined) throw invalid(`the loss of step ${index} is gone: only the last ${KEPT_LOSSES} are kept`);
    return loss;
  }
}

export class ClientEvaluator implements Evaluator {
  private readonly window: StepWindow;
  private readonly check: BatchCheck;
  private readonly from: Ticketed;
  private closed = false;

  constructor(
    private readonly seat: Seat,
    spec: EvaluatorSpec,
    signal: AbortSignal | undefined,
  ) {
    this.from = { issuer: seat.issuer, outs: [seat.handle.id] };
    this.check = new BatchCheck(spec.module.spec, spec.feed, spec.loss, 'eval');
    this.window = new StepWindow(seat.connection, () => seat.now(), spec.window, signal);
  }

  async step(batch: Batch): Promise<void> {
    const { connection, handle } = this.seat;
    this.checkOpen();
    await this.window.enter(() => {
      this.checkOpen();
      const used = this.check.check(batch);
      return connection.send(this.from, (blob): Command => {
        return 'host' in batch
          ? ['evalHost', handle.id, hostFields(batch, used, blob)]
          : ['eval', handle.id, rowsOf(batch, used), blob(copyOf(batch.rows))];
      });
    });
  }

  async collect(): Promise<{ losses: Float32Array; correct: number; count: number }> {
    this.checkOpen();
    const { connection, issuer, handle } = this.seat;
    return connection.ask<Replies['collectEval']>({ issuer }, ['collectEval', handle.id]);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.window.close();
    if (!this.seat.handle.freed) this.seat.handle.release();
  }

  private checkOpen(): void {
    if (this.closed || this.seat.handle.freed) {
      throw new RuntimeError('handle_freed', 'the evaluator was closed', { label: this.seat.issuer.label });
    }
    this.seat.connection.checkFailed(this.seat.handle.id, this.seat.issuer);
  }
}

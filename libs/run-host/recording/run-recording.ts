import type { CapturedPort, OutputRecorder, Redactor } from '@cdui/engine';
import { bytesOf } from '@cdui/engine';
import { isTensor } from '@cdui/node-sdk';
import { OutputWriter } from '@cdui/outputs';
import type { RecordedTensor } from '@cdui/outputs';
import type { WarningPayload } from '@cdui/protocol';
import { MODEL_STATE } from '@cdui/tensor/files';
import type { Scope, TensorRef, TensorRuntime } from '@cdui/tensor/runtime';
import { recordedValue } from './recorded-value';

export interface RunRecordingOptions {
  /** The folder that holds a folder for each run. */
  readonly root: string;
  readonly runId: string;
  readonly runtime: TensorRuntime;
  readonly redactor: Redactor;
  /** Of all runs together, and so of this one. */
  readonly maxBytes: number;
  readonly warn: (warning: WarningPayload) => void;
  /** Tensors that are kept alive until they are written. */
  readonly heldBytes?: number;
}

/**
 * So much waits in the runtime's memory at most. It also bounds what is left to write when a run is stopped, which has to fit the grace of a run
 * that was asked to stop: about a second.
 */
const HELD_BYTES = 256 * 1024 * 1024;

type Place = Pick<RecordedTensor, 'node_id' | 'port' | 'health'>;

/** Tensors that go into one file. A file for each would cost two flushes of the disk each: 10 ms and more. */
interface Batch {
  readonly tensors: Map<TensorRef, readonly Place[]>;
  bytes: number;
}

/**
 * Records what the ports of one run carry. Tensors stay in the runtime, which writes them itself: at the run's end, or earlier when many bytes
 * wait. Nothing that goes wrong here is a failure of the run; a warning says what is missing.
 */
export class RunRecording implements OutputRecorder {
  private readonly writer: OutputWriter | null;
  /** Where the tensors of earlier batches are, by handle: tensors never change, and a node may pass one on. */
  private readonly written = new Map<number, Pick<RecordedTensor, 'file' | 'tensor'>>();
  private batch: Batch = { tensors: new Map(), bytes: 0 };
  private writing: Promise<void> = Promise.resolve();
  private bytes = 0;
  private readonly lost = { overLimit: 0, failed: 0, reason: '' };

  constructor(private readonly options: RunRecordingOptions) {
    this.writer = this.guarded(0, () => new OutputWriter(options)) ?? null;
  }

  record(nodeId: string, ports: readonly CapturedPort[], scope: Scope): void | Promise<void> {
    if (!this.writer) return;
    for (const port of ports) this.guarded(1, () => this.take(nodeId, port, scope));
    if (this.batch.bytes >= (this.options.heldBytes ?? HELD_BYTES)) return this.flush();
  }

  /** Writes what waits and makes it the run's recorded outputs. Never rejects. */
  async finish(): Promise<void> {
    await this.flush();
    const { writer } = this;
    if (writer) {
      // In this order: a run that was just recorded is never what the limits cost.
      if (this.guarded(0, () => writer.commit())) this.guarded(0, () => writer.enforceLimits());
    }
    this.report();
  }

  /** Gives everything up, at once. */
  abandon(): void {
    this.writer?.abandon();
  }

  private take(nodeId: string, port: CapturedPort, scope: Scope): void {
    const { facts, value } = port;
    const plain = recordedValue(nodeId, port, this.options.redactor);
    if (plain) {
      this.writer?.add(plain);
      return;
    }
    if (!isTensor(value)) return;
    const place: Place = {
      node_id: nodeId,
      port: facts.port,
      ...(facts.kind === 'gradient' && { health: facts.health }),
    };
    const written = this.written.get(value.id);
    if (written) {
      this.add(place, value, written);
      return;
    }
    const waiting = this.batch.tensors.get(value);
    if (!waiting) {
      const bytes = bytesOf(value);
      if (this.bytes + bytes > this.options.maxBytes) {
        this.lost.overLimit += 1;
        return;
      }
      scope.keep(value);
      this.bytes += bytes;
      this.batch.bytes += bytes;
    }
    this.writer?.expect(place);
    this.batch.tensors.set(value, [...(waiting ?? []), place]);
  }

  private flush(): Promise<void> {
    const { batch } = this;
    this.batch = { tensors: new Map(), bytes: 0 };
    if (batch.tensors.size > 0) this.writing = this.writing.then(() => this.write(batch));
    return this.writing;
  }

  private async write({ tensors }: Batch): Promise<void> {
    const { writer } = this;
    const named = [...tensors].map(([tensor, places], at) => ({ name: String(at), tensor, places }));
    const scope = this.options.runtime.openScope({ label: 'record outputs' });
    try {
      if (!writer) return;
      const { name: file, path } = writer.tensorFile();
      const state = scope.stateFrom(Object.fromEntries(named.map(({ name, tensor }) => [name, tensor])));
      await scope.saveState(path, { [MODEL_STATE]: state }, {});
      for (const { name, tensor, places } of named) {
        this.written.set(tensor.id, { file, tensor: name });
        for (const place of places) this.add(place, tensor, { file, tensor: name });
      }
    } catch (error) {
      this.note(
        error,
        named.reduce((count, { places }) => count + places.length, 0),
      );
    } finally {
      for (const { tensor } of named) tensor.release();
      scope.close();
    }
  }

  private add(place: Place, { shape, dtype }: TensorRef, at: Pick<RecordedTensor, 'file' | 'tensor'>): void {
    const { node_id, port, health } = place;
    this.writer?.add({
      node_id,
      port,
      type: 'tensor',
      full_shape: [...shape],
      dtype,
      ...at,
      ...(health && { health }),
    });
  }

  private guarded<T>(ports: number, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.note(error, ports);
      return undefined;
    }
  }

  private note(error: unknown, ports: number): void {
    this.lost.failed += ports;
    this.lost.reason ||= error instanceof Error ? error.message : String(error);
  }

  private report(): void {
    const { options, lost } = this;
    if (lost.overLimit > 0) {
      const mib = Math.round(options.maxBytes / 1024 / 1024);
      const code = 'outputs_over_limit';
      const detail =
        `${lost.overLimit} tensors are not recorded: together with the others they are larger than ` +
        `CODEFYUI_RUN_OUTPUT_STORE_MAX_MB allows (${mib} MiB)`;
      options.warn({
        kind: code,
        code,
        detail,
        count: lost.overLimit,
        params: { count: lost.overLimit, limit_mib: mib },
      });
    }
    if (lost.reason !== '') {
      const code = 'outputs_not_recorded';
      const what = lost.failed > 0 ? `${lost.failed} outputs are not recorded` : 'Outputs are not recorded as asked';
      const params = { count: lost.failed, reason: lost.reason };
      options.warn({ kind: code, code, detail: `${what}: ${lost.reason}`, params });
    }
  }
}

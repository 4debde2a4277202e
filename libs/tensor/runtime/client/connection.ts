import { RuntimeError, type RuntimeErrorCode } from '../errors';
import { copyOf } from './host-data';
import type { BlobRef, ClientFrame, Command, ServerFrame, Transport, WireError } from '../wire';

/** Commands and blobs that one frame carries at most. */
const FRAME_COMMANDS = 128;
const FRAME_BLOBS = 16;
/** What may be unacknowledged before `ready` waits. */
const READY_COMMANDS = 4096;
const READY_BYTES = 64 * 1024 * 1024;
/** Errors kept so that later commands can be told their first cause. */
const REMEMBERED_ERRORS = 1024;

/** Who queued a command: carries the label of its errors and collects those that nobody has seen. */
export class Issuer {
  /** The last command of this issuer. */
  lastSeq = 0;
  private readonly unseen: { readonly error: RuntimeError; readonly foreign: boolean }[] = [];
  private readonly seen = new Set<RuntimeError>();

  constructor(readonly label: string) {}

  /** Notes a failure; `foreign` when it came from another issuer's command. */
  note(error: RuntimeError, foreign: boolean): void {
    if (!this.seen.has(error) && !this.unseen.some((entry) => entry.error === error)) {
      this.unseen.push({ error, foreign });
    }
  }

  see(error: RuntimeError): void {
    this.seen.add(error);
  }

  /** The first failure nobody has seen. One from elsewhere counts as seen only when this issuer saw it: its own results failed too. */
  takeUnseen(observed: WeakSet<RuntimeError>): RuntimeError | null {
    for (let entry = this.unseen.shift(); entry; entry = this.unseen.shift()) {
      const known = entry.foreign ? this.seen.has(entry.error) : observed.has(entry.error);
      if (!known) return entry.error;
    }
    return null;
  }
}

/** An unacknowledged command. */
interface InFlight {
  readonly op: string;
  readonly issuer: Issuer;
  /** Ids that fail when it does. */
  readonly outs: readonly number[];
  readonly bytes: number;
  /** Of `free`: ids whose failures nobody can ask for any more. */
  readonly freed?: readonly number[];
}

interface Pending {
  readonly issuer: Issuer;
  resolve(value: unknown): void;
  reject(error: RuntimeError): void;
}

export interface Ticketed {
  readonly issuer: Issuer;
  readonly outs?: readonly number[];
  /** The op's name where the command is `op`. */
  readonly op?: string;
}

/** Adds a blob to the frame and returns its reference; valid while the command is built. */
export type AddBlob = (data: ArrayBufferView) => BlobRef;

/**
 * Sequence numbers, frames, acknowledgements, replies and errors of one transport. Commands run in the order issued;
 * those of one microtask travel in one frame. A failed command marks its outputs; whoever uses them gets the first cause.
 */
export class Connection {
  private nextSeq = 1;
  private nextId = 1;
  private acked = 0;
  private firstInBuffer = 0;
  private buffer: Command[] = [];
  private blobs: ArrayBufferView[] = [];
  private freed: number[] = [];
  private scheduled = false;
  private inFlightBytes = 0;
  private readonly inFlight = new Map<number, InFlight>();
  private readonly pending = new Map<number, Pending>();
  private readonly failures = new Map<number, RuntimeError>();
  private readonly causes = new Map<number, RuntimeError>();
  private readonly observed = new WeakSet<RuntimeError>();
  private readonly origins = new WeakMap<RuntimeError, Issuer>();
  private ackWaiters: {
    readonly seq: number;
    readonly resolve: () => void;
    readonly reject: (error: RuntimeError) => void;
  }[] = [];
  private readyWaiters: { readonly resolve: () => void; readonly reject: (error: RuntimeError) => void }[] = [];
  private readonly ackListeners = new Set<(acked: number) => void>();
  private readonly client = new Issuer('runtime');
  private end: RuntimeError | null = null;
  private resolveGone: (error: RuntimeError | null) => void = () => undefined;
  readonly gone = new Promise<RuntimeError | null>((resolve) => (this.resolveGone = resolve));

  constructor(private readonly transport: Transport) {
    transport.onFrame = (frame) => this.receive(frame);
    transport.onDown = (down) => {
      const oldest = this.inFlight.values().next().value;
      this.down(
        new RuntimeError(down.code, oldest ? `${down.message} while running ${oldest.op}` : down.message, {
          ...(oldest ? { op: oldest.op, label: oldest.issuer.label } : {}),
          ...(down.signal !== undefined ? { signal: down.signal } : {}),
          ...(down.exitCode !== undefined ? { exitCode: down.exitCode } : {}),
          ...(down.output !== undefined ? { output: down.output } : {}),
        }),
        true,
      );
    };
  }

  /** Why nothing more can be sent, or null. */
  get ended(): RuntimeError | null {
    return this.end;
  }

  allocate(): number {
    return this.nextId++;
  }

  /** Queues a command that has no reply. Throws when the far side is gone. */
  send(from: Ticketed, command: Command | ((blob: AddBlob) => Command)): number {
    if (this.end) throw this.end;
    this.queueFreed();
    let bytes = 0;
    let built: Command;
    if (typeof command === 'function') {
      const added: ArrayBufferView[] = [];
      const base = this.blobs.length;
      built = command((data) => {
        bytes += data.byteLength;
        // A buffer can be given away once only.
        const taken = [...this.blobs, ...added].some((other) => other.buffer === data.buffer);
        return { blob: base + added.push(taken ? copyOf(data) : data) - 1, n: data.byteLength };
      });
      if (base > 0 && base + added.length > FRAME_BLOBS) {
        this.flush();
        return this.send(from, command);
      }
      this.blobs.push(...added);
    } else built = command;
    return this.push(built, { op: from.op ?? built[0], issuer: from.issuer, outs: from.outs ?? [], bytes });
  }

  /** Queues a command and waits for its reply. Rejects with the first cause when it or what it uses failed. */
  ask<T>(from: Ticketed, command: Command): Promise<T> {
    let seq: number;
    try {
      seq = this.send(from, command);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise<T>((resolve, reject) => {
      this.pending.set(seq, { issuer: from.issuer, resolve, reject });
    });
  }

  /** The runtime's own requests, which belong to no scope. */
  askAsClient<T>(command: Command): Promise<T> {
    return this.ask({ issuer: this.client }, command);
  }

  sendAsClient(command: Command): void {
    this.send({ issuer: this.client }, command);
  }

  /** Queues the release of an id, in order with everything else. Never throws. */
  free(id: number): void {
    this.failures.delete(id);
    if (this.end) return;
    this.freed.push(id);
    this.schedule();
  }

  /** Throws the first cause if `id` failed; whoever sees it counts as having observed it. */
  checkFailed(id: number, issuer: Issuer): void {
    const error = this.failures.get(id);
    if (!error) return;
    this.observe(error, issuer);
    throw error;
  }

  /** Whether `seq` has been acknowledged. */
  isDone(seq: number): boolean {
    return seq <= this.acked;
  }

  /** Resolves when `seq` has been acknowledged. */
  whenDone(seq: number): Promise<void> {
    if (this.end) return Promise.reject(this.end);
    if (seq <= this.acked) return Promise.resolve();
    return new Promise((resolve, reject) => this.ackWaiters.push({ seq, resolve, reject }));
  }

  /** Calls `listener` after every acknowledgement; returns what ends that. */
  onAck(listener: (acked: number) => void): () => void {
    this.ackListeners.add(listener);
    return () => this.ackListeners.delete(listener);
  }

  /** Backpressure for loops of commands. */
  ready(): Promise<void> {
    if (this.end) return Promise.reject(this.end);
    if (this.hasRoom()) return Promise.resolve();
    return new Promise((resolve, reject) => this.readyWaiters.push({ resolve, reject }));
  }

  /** Waits until all that `issuer` queued has run; rejects with its first failure that nobody has seen. */
  async settle(issuer: Issuer): Promise<void> {
    if (!this.isDone(issuer.lastSeq)) await this.ask({ issuer }, ['sync']);
    else if (this.end) throw this.end;
    const error = issuer.takeUnseen(this.observed);
    if (error) {
      this.observe(error, issuer);
      throw error;
    }
  }

  /** Sends what is queued, then ends the far side. */
  async close(force: boolean): Promise<void> {
    if (this.end) return;
    this.flush();
    await this.transport.close({ force });
    this.down(new RuntimeError('host_exited', 'the runtime was closed: open another one'), false);
  }

  private push(command: Command, entry: InFlight): number {
    const seq = this.nextSeq++;
    if (this.buffer.length === 0) this.firstInBuffer = seq;
    this.buffer.push(command);
    this.inFlight.set(seq, entry);
    this.inFlightBytes += entry.bytes;
    entry.issuer.lastSeq = seq;
    if (this.buffer.length >= FRAME_COMMANDS || this.blobs.length >= FRAME_BLOBS) this.flush();
    else this.schedule();
    return seq;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  /** Releases are gathered until the next command, so that they keep their place in the order. */
  private queueFreed(): void {
    if (this.freed.length === 0) return;
    const ids = this.freed;
    this.freed = [];
    this.push(['free', ids], { op: 'free', issuer: this.client, outs: [], bytes: 0, freed: ids });
  }

  private flush(): void {
    if (this.end) return;
    this.queueFreed();
    if (this.buffer.length === 0) return;
    const frame: ClientFrame = { s: this.firstInBuffer, b: this.buffer, blobs: this.blobs };
    this.buffer = [];
    this.blobs = [];
    try {
      this.transport.send(frame);
    } catch (error) {
      // Later frames would not follow on, so nothing more can be sent.
      const reason = error instanceof Error ? error.message : String(error);
      this.down(new RuntimeError('protocol', `commands could not be sent: ${reason}`), true);
    }
  }

  private receive(frame: ServerFrame): void {
    if (this.end) return;
    for (const [seq, wire] of frame.e ?? []) this.fail(seq, this.toError(seq, wire));
    for (const [seq, cause] of frame.x ?? []) {
      const known =
        this.causes.get(cause) ?? new RuntimeError('runtime_failed', 'an input of this command failed earlier');
      this.fail(seq, known);
    }
    for (const [seq, value] of frame.r ?? []) {
      const waiting = this.pending.get(seq);
      this.pending.delete(seq);
      waiting?.resolve(value);
    }
    this.acknowledge(frame.a);
  }

  private toError(seq: number, wire: WireError): RuntimeError {
    const entry = this.inFlight.get(seq);
    const op = wire.op ?? entry?.op;
    const error = new RuntimeError(
      wire.code as RuntimeErrorCode,
      op === undefined || [`${op}:`, `${op} `].some((start) => wire.message.startsWith(start))
        ? wire.message
        : `${op}: ${wire.message}`,
      {
        ...(op !== undefined ? { op } : {}),
        ...(entry ? { label: entry.issuer.label } : {}),
        ...(wire.detail !== undefined ? { detail: wire.detail } : {}),
      },
    );
    if (entry) this.origins.set(error, entry.issuer);
    this.causes.set(seq, error);
    if (this.causes.size > REMEMBERED_ERRORS) this.causes.delete(this.causes.keys().next().value!);
    return error;
  }

  private fail(seq: number, error: RuntimeError): void {
    const entry = this.inFlight.get(seq);
    for (const id of entry?.outs ?? []) this.failures.set(id, error);
    const waiting = this.pending.get(seq);
    if (waiting) {
      this.pending.delete(seq);
      this.observe(error, waiting.issuer);
      waiting.reject(error);
    } else entry?.issuer.note(error, this.origins.get(error) !== entry.issuer);
  }

  private observe(error: RuntimeError, issuer: Issuer): void {
    this.observed.add(error);
    issuer.see(error);
  }

  /** Newly acknowledged commands leave the table; whoever waits for them goes on. */
  private acknowledge(seq: number): void {
    if (seq <= this.acked) return;
    for (let done = this.acked + 1; done <= seq; done++) {
      const entry = this.inFlight.get(done);
      this.inFlightBytes -= entry?.bytes ?? 0;
      for (const id of entry?.freed ?? []) this.failures.delete(id);
      this.inFlight.delete(done);
    }
    this.acked = seq;
    for (const listener of this.ackListeners) listener(seq);
    const waiters = this.ackWaiters;
    this.ackWaiters = waiters.filter((waiter) => waiter.seq > seq);
    for (const waiter of waiters) if (waiter.seq <= seq) waiter.resolve();
    if (this.readyWaiters.length && this.hasRoom()) {
      const ready = this.readyWaiters;
      this.readyWaiters = [];
      for (const waiter of ready) waiter.resolve();
    }
  }

  private hasRoom(): boolean {
    return this.inFlight.size < READY_COMMANDS && this.inFlightBytes < READY_BYTES;
  }

  /** Ends the connection for good: every promise is rejected, every later call throws the same error. */
  private down(error: RuntimeError, lost: boolean): void {
    if (this.end) return;
    this.end = error;
    const waiting = [...this.pending.values(), ...this.ackWaiters, ...this.readyWaiters];
    this.pending.clear();
    this.ackWaiters = [];
    this.readyWaiters = [];
    this.inFlight.clear();
    this.failures.clear();
    this.buffer = [];
    this.blobs = [];
    this.freed = [];
    this.inFlightBytes = 0;
    for (const waiter of waiting) waiter.reject(error);
    this.resolveGone(lost ? error : null);
  }
}

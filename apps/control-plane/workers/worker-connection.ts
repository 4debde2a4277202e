import type { AgentFrame, HelloFrame, Reason, RejectFrame, RunFrameHead, ServerFrame } from '@cdui/protocol';
import {
  CAPABILITIES,
  checkAgentFrame,
  CodedError,
  HELLO_TIMEOUT_MS,
  isPlainObject,
  isShallow,
  MAX_FRAME_NESTING,
  MAX_HELLO_BYTES,
  MISSED_HEARTBEATS,
  readMessage,
  reasonOf,
  WORKER_CLOSE,
} from '@cdui/protocol';
import { judgeHello } from './handshake';
import type { TransportListener, WorkerCredential, WorkerTransport } from './transport';
import type { WorkerWorld } from './world';

/** Whom a connection works for: the worker, once a hello said which. */
export interface ConnectionOwner {
  /** @returns why this one may not be it now; null when it is */
  hello(connection: WorkerConnection, hello: HelloFrame): RejectFrame | null;
  frame(connection: WorkerConnection, frame: Exclude<AgentFrame, HelloFrame>): void;
  /** A frame of a run that is none: only that run is the worse for it. */
  brokenFrame(connection: WorkerConnection, head: RunFrameHead, problem: string): void;
  rejectedHello(name: string, rejection: RejectFrame): void;
  closed(connection: WorkerConnection, reason: Reason): void;
}

/** What this server speaks: an agent uses a feature only when it is listed. */
const SPOKEN = CAPABILITIES.filter((name) => ['ack', 'run_facts', 'console'].includes(name));

/** One socket of an agent: who it is, whether it lives, what it says. */
export class WorkerConnection implements TransportListener {
  /** Of the worker; null until its first hello was accepted. */
  name: string | null = null;
  private over = false;
  private paused = 0;
  private lastByteAt: number;
  private stopWatch: () => void;

  constructor(
    private readonly transport: WorkerTransport,
    readonly credential: WorkerCredential,
    private readonly world: WorkerWorld,
    private readonly owner: ConnectionOwner,
  ) {
    this.lastByteAt = world.clock.monotonic();
    this.stopWatch = world.clock.after(HELLO_TIMEOUT_MS, () =>
      this.close(WORKER_CLOSE.protocol, `No hello within ${HELLO_TIMEOUT_MS / 1000} s`),
    );
    transport.listen(this);
  }

  get address(): string {
    return this.transport.address;
  }

  send(frame: ServerFrame): void {
    if (!this.over) this.transport.send(JSON.stringify(frame));
  }

  /** Stops reading until `resume` was called as often: what comes cannot be stored as fast. */
  pause(): void {
    this.paused += 1;
    if (this.paused === 1) this.transport.pause();
  }

  resume(): void {
    this.paused -= 1;
    if (this.paused > 0) return;
    // Nothing could come meanwhile.
    this.lastByteAt = this.world.clock.monotonic();
    this.transport.resume();
  }

  /** @param because what its runs are told; derived from the code when left out */
  close(code: number, text: string, because: Reason = reasonOf('connection_closed', { close_code: code })): void {
    if (this.over) return;
    this.transport.close(code, text);
    this.end(because);
  }

  onAlive(): void {
    this.lastByteAt = this.world.clock.monotonic();
  }

  onMessage(text: string, bytes: number): void {
    if (this.over) return;
    this.onAlive();
    try {
      if (this.name === null && bytes > MAX_HELLO_BYTES) {
        throw new CodedError('invalid_message', `A hello may have ${MAX_HELLO_BYTES} bytes; it has ${bytes}`);
      }
      // A look at the text spares one at every value of every frame.
      const shallow = isShallow(text, MAX_FRAME_NESTING);
      for (const value of readMessage(text)) {
        this.read(value, shallow);
        if (this.over) return;
      }
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      this.world.log('warn', `Worker ${this.name ?? this.address} sent what is no frame: ${error.message}`, {
        worker: this.name,
        address: this.address,
      });
      this.close(WORKER_CLOSE.protocol, error.message.slice(0, 120));
    }
  }

  onClosed(code: number): void {
    this.end(reasonOf('connection_closed', { close_code: code }));
  }

  private read(value: unknown, shallow: boolean): void {
    let frame: AgentFrame | null;
    try {
      frame = checkAgentFrame(value, shallow);
    } catch (error) {
      const head = headOf(value);
      // The agent has it in its spool, and would send it again on every connection.
      if (!(error instanceof CodedError) || head === null || this.name === null) throw error;
      this.owner.brokenFrame(this, head, error.message);
      return;
    }
    if (frame) this.take(frame);
  }

  private take(frame: AgentFrame): void {
    if (frame.type === 'hello') this.hello(frame);
    else if (this.name === null)
      throw new CodedError('invalid_message', `The first frame must be hello, not ${frame.type}`);
    else this.owner.frame(this, frame);
  }

  private hello(hello: HelloFrame): void {
    const { name, world } = this;
    if (name !== null && name !== hello.name) {
      throw new CodedError(
        'invalid_message',
        `This connection is that of worker ${name}: it cannot become ${hello.name}`,
      );
    }
    const rejection = judgeHello(hello, this.credential, world.version) ?? this.owner.hello(this, hello);
    if (rejection) {
      this.owner.rejectedHello(hello.name, rejection);
      this.send(rejection);
      this.close(WORKER_CLOSE.rejected, rejection.reason.slice(0, 120));
      return;
    }
    if (name !== null) return;
    this.name = hello.name;
    const { heartbeatMs, cancelGraceS, resumeGraceMs } = world.limits;
    this.send({
      type: 'welcome',
      worker_id: hello.name,
      heartbeat_s: heartbeatMs / 1000,
      grace_s: cancelGraceS,
      capabilities: SPOKEN,
      resume_grace_s: resumeGraceMs / 1000,
    });
    this.stopWatch();
    this.watch();
  }

  /** Pings, and ends a connection on which nothing comes any more. */
  private watch(): void {
    const { clock, limits } = this.world;
    this.stopWatch = clock.after(limits.heartbeatMs, () => {
      const silentMs = clock.monotonic() - this.lastByteAt;
      if (this.paused === 0 && silentMs >= MISSED_HEARTBEATS * limits.heartbeatMs) {
        const seconds = Math.round(silentMs / 1000);
        this.close(WORKER_CLOSE.silent, `Nothing came for ${seconds} s`, reasonOf('no_heartbeat', { seconds }));
        return;
      }
      this.transport.ping();
      this.watch();
    });
  }

  private end(reason: Reason): void {
    if (this.over) return;
    this.over = true;
    this.stopWatch();
    this.owner.closed(this, reason);
  }
}

/** What names a frame that is none; null when not even that is there. */
function headOf(value: unknown): RunFrameHead | null {
  if (!isPlainObject(value)) return null;
  const { run_id, attempt, seq } = value;
  const named = typeof run_id === 'string' && RUN_ID.test(run_id);
  return named && isCount(attempt) && isCount(seq) ? { run_id, attempt, seq } : null;
}

const RUN_ID = /^[\w-]{1,64}$/;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

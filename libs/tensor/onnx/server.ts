import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { CodedError } from '@cdui/protocol';
import { RuntimeError } from '../runtime';
import type { ClientFrame, Command, Hello, ServerFrame, WireError } from '../runtime/wire';
import type { Compiler } from './compiler';
import { nativeCause } from './native-errors';
import { Commands, HEAVY, outputsOf, REPLYING } from './commands';
import { Poisoned } from './objects';
import { SessionCache } from './sessions';

export interface ServerOptions {
  /** Moves a frame to the client; `transfer` lists buffers that the server gives away with it. */
  post(frame: ServerFrame, transfer: readonly ArrayBuffer[]): void;
  readonly compiler: Compiler;
  /** Threads of a training or inference run. */
  readonly threads: number;
  /** Compare every result with shape inference. Default: whether `CODEFYUI_DEBUG` is set. */
  readonly check?: boolean;
  /** Called before each command, and `leave` after it, before anything is said about it. False ends the server there and then. */
  enter?(): boolean;
  leave?(): void;
  /** Called when the server has ended by itself: after the command `end`, or because `enter` said so. */
  onEnd?(): void;
}

export interface RuntimeServer {
  readonly hello: Hello;
  /** Queues a frame; commands run in the order they came. */
  handle(frame: ClientFrame): void;
  /** Resolves when everything queued has run. */
  idle(): Promise<void>;
  /** Runs what is queued, then releases sessions and handles. `drop` runs no further command: the client is gone. */
  end(options?: { readonly drop?: boolean }): Promise<void>;
}

/** Heavy commands are acknowledged one by one only so often. */
const ACK_MS = 5;
const MESSAGE_LIMIT = 2000;
const MEMORY_MS = 50;

/** The embedded runtime's command server. It knows no threads and no pipes: frames come in, frames go out. */
export function createServer(options: ServerOptions): RuntimeServer {
  return new Server(options);
}

class Server implements RuntimeServer {
  readonly hello: Hello;
  private readonly commands: Commands;
  private readonly sessions: SessionCache;
  private queue: ClientFrame[] = [];
  private working: Promise<void> | null = null;
  private ended = false;
  private dropped = false;
  private lastAck = 0;
  private lastSample = 0;
  /** What the next frame to the client will say. */
  private done = 0;
  private errors: [number, WireError][] = [];
  private poisoned: [number, number][] = [];
  private replies: [number, unknown][] = [];

  constructor(private readonly options: ServerOptions) {
    const { compiler, threads } = options;
    this.sessions = new SessionCache(threads);
    const check = options.check ?? !!process.env['CODEFYUI_DEBUG'];
    const now = () => performance.now();
    const rss = () => process.memoryUsage.rss();
    this.commands = new Commands({ compiler, sessions: this.sessions, check, device: 'cpu', now, rss });
    this.hello = {
      protocol: 1,
      kind: 'onnx',
      version: VERSION,
      device: 'cpu',
      deviceName: cpus()[0]?.model.trim() || 'CPU',
      pid: process.pid,
      threads,
      precisions: ['fp32'],
      numerics: { library: `onnxruntime ${VERSION}`, threads: String(threads), arch: process.arch },
    };
  }

  handle(frame: ClientFrame): void {
    if (this.ended) return;
    this.queue.push(frame);
    this.working ??= this.work();
  }

  async idle(): Promise<void> {
    while (this.working) await this.working;
  }

  async end({ drop = false }: { readonly drop?: boolean } = {}): Promise<void> {
    if (drop) this.dropped = true;
    await this.idle();
    if (this.ended) return;
    await this.finish();
  }

  private async work(): Promise<void> {
    for (let frame = this.queue.shift(); frame; frame = this.queue.shift()) {
      const last = await this.runFrame(frame);
      // A frame that waits is worked on first: its acknowledgement covers this one's.
      if (last || this.queue.length === 0) this.flush();
      if (last) await this.finish();
    }
    this.working = null;
    if (this.ended) this.options.onEnd?.();
  }

  /** Whether it was the last one. */
  private async runFrame(frame: ClientFrame): Promise<boolean> {
    const { blobs, b: commands } = frame;
    for (let at = 0; at < commands.length; at++) {
      if (this.dropped || this.options.enter?.() === false) return true;
      const command = commands[at]!;
      const seq = frame.s + at;
      try {
        const result = this.commands.run(command, blobs);
        const value = result instanceof Promise ? await result : result;
        if (REPLYING.has(command[0])) this.replies.push([seq, value]);
      } catch (error) {
        this.fail(command, seq, error);
      }
      this.options.leave?.();
      this.done = seq;
      if (command[0] === 'end') return true;
      this.acknowledge(command);
    }
    return false;
  }

  private fail(command: Command, seq: number, error: unknown): void {
    const cause = error instanceof Poisoned ? error.first : seq;
    if (error instanceof Poisoned) this.poisoned.push([seq, cause]);
    else this.errors.push([seq, wireError(command, error)]);
    for (const id of outputsOf(command)) this.commands.objects.fail(id, cause);
  }

  /** Errors and replies go at once; acknowledgements of heavy commands now and then; the rest when nothing waits. */
  private acknowledge(command: Command): void {
    if (this.errors.length || this.replies.length || (this.poisoned.length && REPLYING.has(command[0]))) this.flush();
    else if (HEAVY.has(command[0])) {
      const now = performance.now();
      if (now - this.lastAck >= ACK_MS) this.flush(now);
      if (now - this.lastSample >= MEMORY_MS) {
        this.lastSample = now;
        this.commands.sampleMemory();
      }
    }
  }

  private flush(now = performance.now()): void {
    const { errors, poisoned, replies } = this;
    const frame: { -readonly [K in keyof ServerFrame]: ServerFrame[K] } = { a: this.done };
    const transfer: ArrayBuffer[] = [];
    if (errors.length) {
      frame.e = errors;
      this.errors = [];
    }
    if (poisoned.length) {
      frame.x = poisoned;
      this.poisoned = [];
    }
    if (replies.length) {
      frame.r = replies;
      this.replies = [];
      for (const [, value] of replies) addBuffers(value, transfer);
    }
    this.lastAck = now;
    this.options.post(frame, transfer);
  }

  private async finish(): Promise<void> {
    this.ended = true;
    this.queue = [];
    this.commands.objects.clear();
    await this.sessions.clear();
  }
}

/** Typed arrays of a reply, one level deep: replies are made for the client, which may have their memory. */
function addBuffers(value: unknown, transfer: ArrayBuffer[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) {
    if (ArrayBuffer.isView(member)) transfer.push(member.buffer as ArrayBuffer);
  }
}

function wireError(command: Command, error: unknown): WireError {
  const op = command[0] === 'op' ? command[1] : command[0];
  if (error instanceof RuntimeError) return { code: error.code, message: cut(error.message), op: error.op ?? op };
  if (error instanceof CodedError)
    return { code: 'invalid_argument', message: cut(error.message), op, detail: error.code };
  const { message, name } = error instanceof Error ? error : { message: String(error), name: typeof error };
  const cause = nativeCause(message);
  return { code: cause.code, message: cut(cause.message), op, detail: name };
}

function cut(message: string): string {
  return message.length > MESSAGE_LIMIT ? `${message.slice(0, MESSAGE_LIMIT - 3)}...` : message;
}

const VERSION: string = JSON.parse(readFileSync(require.resolve('onnxruntime-node/package.json'), 'utf8')).version;

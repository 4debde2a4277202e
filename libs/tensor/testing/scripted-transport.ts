import type { ClientFrame, Command, Hello, ServerFrame, Transport, WireError } from '../runtime/wire';

const HELLO: Hello = {
  protocol: 1,
  kind: 'onnx',
  version: 'scripted',
  device: 'cpu',
  deviceName: 'test',
  pid: 0,
  threads: 1,
  precisions: ['fp32'],
  numerics: {},
};

/** A transport whose far side is the test: it sees every command and says what is acknowledged, answered or failed. */
export class ScriptedTransport implements Transport {
  onFrame: Transport['onFrame'] = () => undefined;
  onDown: Transport['onDown'] = () => undefined;
  readonly hello: Promise<Hello>;
  readonly frames: ClientFrame[] = [];
  closedWith: { force: boolean } | null = null;

  constructor(hello: Partial<Hello> = {}) {
    this.hello = Promise.resolve({ ...HELLO, ...hello });
  }

  send(frame: ClientFrame): void {
    this.frames.push(frame);
  }

  async close(options: { force: boolean }): Promise<void> {
    this.closedWith = options;
  }

  /** Every command sent, with its sequence number. */
  get commands(): { readonly seq: number; readonly command: Command }[] {
    return this.frames.flatMap((frame) => frame.b.map((command, at) => ({ seq: frame.s + at, command })));
  }

  /** The commands of one kind. */
  of<K extends Command[0]>(
    kind: K,
  ): { readonly seq: number; readonly command: Extract<Command, readonly [K, ...unknown[]]> }[] {
    return this.commands.filter(({ command }) => command[0] === kind) as ReturnType<typeof this.of<K>>;
  }

  get lastSeq(): number {
    return this.commands.at(-1)?.seq ?? 0;
  }

  answer(frame: Partial<ServerFrame>): void {
    this.onFrame({ a: 0, ...frame });
  }

  acknowledge(seq: number = this.lastSeq): void {
    this.answer({ a: seq });
  }

  reply(seq: number, value: unknown): void {
    this.answer({ r: [[seq, value]] });
  }

  fail(seq: number, error: WireError): void {
    this.answer({ e: [[seq, error]] });
  }

  poison(seq: number, cause: number): void {
    this.answer({ x: [[seq, cause]] });
  }
}

/** Lets everything that is queued in microtasks run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

import { once } from 'node:events';
import type { HelloFrame, NumberedFrameType, ServerFrame, ServerFrameType } from '@cdui/protocol';
import { PROTOCOL_VERSION, readMessage } from '@cdui/protocol';
import { WebSocket } from 'ws';
import { version } from '../config/version';
import type { TestServer } from './test-server';

export type ServerFrameOf<T extends ServerFrameType> = Extract<ServerFrame, { type: T }>;

/** An agent over a real socket that says what a test has it say. */
export class ScriptedAgent {
  readonly frames: ServerFrame[] = [];
  readonly closed: Promise<number>;
  private readonly waiting = new Set<() => void>();

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.frames.push(...(readMessage(data.toString()) as ServerFrame[]));
      for (const look of [...this.waiting]) look();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.on('close', (code: number) => resolve(code)));
  }

  static url(server: Pick<TestServer, 'url'>): string {
    return `${server.url.replace('http', 'ws')}/ws/worker`;
  }

  static async dial(server: Pick<TestServer, 'url' | 'token'>): Promise<ScriptedAgent> {
    const socket = new WebSocket(ScriptedAgent.url(server), { headers: { 'x-codefyui-token': server.token } });
    const agent = new ScriptedAgent(socket);
    await once(socket, 'open');
    return agent;
  }

  /** Dials, says hello and which runs it has. */
  static async connect(
    server: TestServer,
    name: string,
    runs: readonly { readonly run_id: string; readonly attempt: number; readonly last_seq: number }[] = [],
  ): Promise<ScriptedAgent> {
    const agent = await ScriptedAgent.dial(server);
    agent.say(helloOf(name));
    await agent.of('welcome');
    agent.say({ type: 'run_alive', runs });
    return agent;
  }

  say(...frames: readonly object[]): void {
    this.socket.send(JSON.stringify(frames.length === 1 ? frames[0] : frames));
  }

  /** A numbered frame about an assigned run. */
  report(assign: ServerFrameOf<'assign'>, seq: number, type: NumberedFrameType, members: object): void {
    this.say({ type, run_id: assign.run_id, attempt: assign.attempt, seq, ...members });
  }

  /** The first frame of that type from an index on. Waits for it. */
  of<T extends ServerFrameType>(
    type: T,
    from = 0,
    fits = (_: ServerFrameOf<T>): boolean => true,
  ): Promise<ServerFrameOf<T>> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.frames.slice(from).find((frame) => frame.type === type && fits(frame as ServerFrameOf<T>));
        if (!found) return;
        this.waiting.delete(look);
        resolve(found as ServerFrameOf<T>);
      };
      this.waiting.add(look);
      void this.closed.then((code) => reject(new Error(`The socket was closed with ${code}`)));
      look();
    });
  }

  close(): void {
    this.socket.terminate();
  }
}

export function helloOf(name: string, changes: Partial<HelloFrame> = {}): HelloFrame {
  return {
    type: 'hello',
    name,
    version: version(),
    protocol_version: PROTOCOL_VERSION,
    capabilities: ['ack', 'run_facts', 'console'],
    machine_id: null,
    platform: 'linux-x64',
    devices: [
      { device: 'cpu', name: 'Processor', uuid: null, total_bytes: 100, free_bytes: 50, utilization: 5 },
      { device: 'cuda:0', name: 'Card', uuid: 'GPU-1', total_bytes: 100, free_bytes: 50, utilization: null },
    ],
    mounts: [],
    fingerprint: { node: 'v20' },
    catalog_hash: null,
    node_types: [],
    node_type_hashes: {},
    ...changes,
  };
}

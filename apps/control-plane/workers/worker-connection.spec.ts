import type { HelloFrame, ServerFrame } from '@cdui/protocol';
import { helloOf } from '../testing/scripted-agent';
import { VirtualClock } from '../runs/testing/virtual-clock';
import { version } from '../config/version';
import type { TransportListener, WorkerTransport } from './transport';
import { type ConnectionOwner, WorkerConnection } from './worker-connection';
import type { WorkerWorld } from './world';

const HEARTBEAT_MS = 10_000;

class FakeTransport implements WorkerTransport {
  readonly address = '127.0.0.1';
  readonly sent: ServerFrame[] = [];
  listener!: TransportListener;
  pings = 0;
  paused = false;
  closed: number | null = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as ServerFrame);
  }
  ping(): void {
    this.pings += 1;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  close(code: number): void {
    this.closed ??= code;
  }
  listen(listener: TransportListener): void {
    this.listener = listener;
  }
  say(frame: object): void {
    const text = JSON.stringify(frame);
    this.listener.onMessage(text, text.length);
  }
}

function connect(hello: HelloFrame | null = helloOf('w')) {
  const clock = new VirtualClock();
  const limits = { heartbeatMs: HEARTBEAT_MS, resumeGraceMs: 300_000, cancelGraceS: 30 };
  const world = { clock, limits, version: version(), log: () => undefined } as unknown as WorkerWorld;
  const reasons: string[] = [];
  const taken: string[] = [];
  const owner: ConnectionOwner = {
    hello: () => null,
    frame: (_, { type }) => void taken.push(type),
    brokenFrame: () => undefined,
    rejectedHello: () => undefined,
    closed: (_, { code }) => void reasons.push(code),
  };
  const transport = new FakeTransport();
  const connection = new WorkerConnection(transport, { kind: 'session', name: null }, world, owner);
  if (hello) transport.say(hello);
  return { clock, transport, connection, reasons, taken };
}

describe('a worker’s connection', () => {
  it('says what it expects, and pings at every heartbeat', () => {
    const { clock, transport } = connect();
    expect(transport.sent).toEqual([
      {
        type: 'welcome',
        ...{ worker_id: 'w', heartbeat_s: 10, grace_s: 30, resume_grace_s: 300 },
        capabilities: ['ack', 'run_facts', 'console'],
      },
    ]);
    clock.advance(2 * HEARTBEAT_MS);
    expect(transport.pings).toBe(2);
  });

  it('ends without a hello in 10 s, and not a moment earlier', () => {
    const { clock, transport, reasons } = connect(null);
    clock.advance(9_999);
    expect(transport.closed).toBeNull();
    clock.advance(1);
    expect([transport.closed, reasons]).toEqual([4422, ['connection_closed']]);
  });

  it('ends when nothing came for three heartbeats, whatever came last', () => {
    const { clock, transport, reasons } = connect();
    for (let beat = 0; beat < 10; beat++) {
      clock.advance(HEARTBEAT_MS);
      transport.listener.onAlive();
    }
    expect(transport.closed).toBeNull();
    clock.advance(3 * HEARTBEAT_MS);
    expect([transport.closed, reasons]).toEqual([4408, ['no_heartbeat']]);
  });

  it('does not count the time in which this side does not read', () => {
    const { clock, transport, connection } = connect();
    connection.pause();
    connection.pause();
    clock.advance(10 * HEARTBEAT_MS);
    connection.resume();
    expect([transport.closed, transport.paused]).toEqual([null, true]);
    connection.resume();
    expect(transport.paused).toBe(false);
    clock.advance(2 * HEARTBEAT_MS);
    expect(transport.closed).toBeNull();
    clock.advance(2 * HEARTBEAT_MS);
    expect(transport.closed).toBe(4408);
  });

  it('tells its end once, and takes nothing after it', () => {
    const { transport, connection, reasons, taken } = connect();
    connection.close(1001, 'The server stops');
    transport.say({ type: 'heartbeat', devices: [], running: [] });
    transport.listener.onClosed(1006);
    expect([reasons, taken]).toEqual([['connection_closed'], []]);
  });
});

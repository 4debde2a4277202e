import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLock, type Lock } from '@cdui/host/single-instance';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Connection, ConnectionEnd, ConnectionEvents } from '../core/world';
import { checkControl, findControlPlane } from './control-plane';
import { WebSocketDialer } from './ws-dialer';

/** What a dial told, in order; `next` waits for more. */
class Told implements ConnectionEvents {
  readonly all: (readonly [string, unknown])[] = [];
  connection: Connection | null = null;
  heardTimes = 0;
  private wake = (): void => undefined;

  opened(connection: Connection): void {
    this.connection = connection;
    this.tell('opened', null);
  }
  message = (text: string): void => this.tell('message', text);
  heard = (): void => void (this.heardTimes += 1);
  ponged = (ping: number): void => this.tell('ponged', ping);
  drained = (): void => this.tell('drained', null);
  ended = (end: ConnectionEnd): void => this.tell('ended', end);

  async until(name: string): Promise<unknown> {
    for (;;) {
      const found = this.all.find(([one]) => one === name);
      if (found) return found[1];
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private tell(name: string, value: unknown): void {
    this.all.push([name, value]);
    this.wake();
  }
}

let folder: string;
let http: Server;
let sockets: WebSocketServer;
let lock: Lock;
let requests: IncomingMessage[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-dial-'));
  requests = [];
  http = createServer((_, response) => response.writeHead(404).end());
  sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request: IncomingMessage, socket: Socket, head) => {
    requests.push(request);
    if (request.headers['x-codefyui-token'] !== 'secret') {
      const body = JSON.stringify({ code: 4401, detail: 'Wrong token' });
      socket.end(`HTTP/1.1 401 Unauthorized\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    } else sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client));
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  lock = (await acquireLock(join(folder, 'server.lock')))!;
  const { port } = http.address() as AddressInfo;
  writeFileSync(join(folder, 'server.addr'), JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid }));
  writeFileSync(join(folder, 'session.token'), 'secret\n');
});
afterEach(async () => {
  lock.release();
  sockets.clients.forEach((client) => client.terminate());
  http.closeAllConnections();
  http.close();
  await once(http, 'close').catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
});

const dialer = (): WebSocketDialer =>
  new WebSocketDialer({ place: () => findControlPlane(folder, null), maxMessageBytes: 100_000 });

async function dial(): Promise<{ readonly told: Told; readonly server: WebSocket; readonly connection: Connection }> {
  const told = new Told();
  const accepted = once(sockets, 'connection') as Promise<[WebSocket]>;
  dialer().dial(told);
  const [[server]] = await Promise.all([accepted, told.until('opened')]);
  return { told, server, connection: told.connection! };
}

describe('a dial', () => {
  it('shows the token and no origin, and speaks text both ways without compression', async () => {
    const { told, server, connection } = await dial();
    const [request] = requests;
    expect(request!.url).toBe('/ws/worker');
    expect(request!.headers.origin).toBeUndefined();
    expect(request!.headers['sec-websocket-extensions']).toBeUndefined();
    const received = once(server, 'message') as Promise<[Buffer, boolean]>;
    connection.send(Buffer.from('[1]'));
    const [data, isBinary] = await received;
    expect([data.toString(), isBinary]).toEqual(['[1]', false]);
    server.send('{"type":"drain"}');
    expect(await told.until('message')).toBe('{"type":"drain"}');
    expect(told.heardTimes).toBeGreaterThan(0);
    connection.ping(7);
    expect(await told.until('ponged')).toBe(7);
  });

  it('reads token and address anew each time, and says why there is no connection', async () => {
    writeFileSync(join(folder, 'session.token'), 'old');
    const refused = new Told();
    dialer().dial(refused);
    expect(await refused.until('ended')).toEqual({
      code: null,
      reason: expect.stringMatching(/refuses the connection with 401: Wrong token$/) as string,
    });
    writeFileSync(join(folder, 'session.token'), 'secret');
    await dial();
    writeFileSync(join(folder, 'server.addr'), JSON.stringify({ url: 'http://127.0.0.1:9', pid: process.pid }));
    const nobody = new Told();
    dialer().dial(nobody);
    expect(await nobody.until('ended')).toEqual({
      code: null,
      reason: 'ws://127.0.0.1:9/ws/worker cannot be reached: nobody listens there',
    });
    rmSync(join(folder, 'server.addr'));
    const none = new Told();
    dialer().dial(none);
    expect(await none.until('ended')).toEqual({ code: null, reason: `no server runs on ${folder}` });
  });

  it('does not show the token to whoever has the address of a server that is gone', async () => {
    lock.release();
    const told = new Told();
    dialer().dial(told);
    expect(await told.until('ended')).toMatchObject({ code: null });
    expect(requests).toEqual([]);
  });

  it('ends once, with the code of whoever closed it, or 1006 when it was cut', async () => {
    const closed = await dial();
    closed.server.close(4409, 'another one');
    expect(await closed.told.until('ended')).toEqual({
      code: 4409,
      reason: 'the connection was closed (4409: another one)',
    });
    const cut = await dial();
    cut.server.terminate();
    expect(await cut.told.until('ended')).toMatchObject({ code: 1006 });
    const mine = await dial();
    mine.connection.close(1000, 'done');
    expect(await mine.told.until('ended')).toMatchObject({ code: 1000 });
    expect(mine.told.all.filter(([name]) => name === 'ended')).toHaveLength(1);
  });

  it('is cut when the other end does not answer its close', async () => {
    const { told, server, connection } = await dial();
    server.pause();
    connection.close(4408, 'silent');
    expect(await told.until('ended')).toMatchObject({ code: 1006 });
  });

  it('closes on bytes, and on a message that is too large', async () => {
    const bytes = await dial();
    bytes.server.send(Buffer.from([1, 2]));
    expect(await bytes.told.until('ended')).toMatchObject({ code: 4422 });
    const large = await dial();
    large.server.send('x'.repeat(200_000));
    expect(await large.told.until('ended')).toMatchObject({ reason: expect.stringContaining('size') as string });
    expect(large.told.all.some(([name]) => name === 'message')).toBe(false);
  });

  it('says when it can take no more, and when it can again', async () => {
    const { told, server, connection } = await dial();
    server.pause();
    const message = Buffer.alloc(64 * 1024, 0x20);
    let sent = 0;
    while (connection.send(message)) {
      sent += message.length;
      // What the system takes, it takes between two turns.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect(told.all.some(([name]) => name === 'drained')).toBe(false);
    server.resume();
    await told.until('drained');
    expect(connection.send(message)).toBe(true);
  });
});

it('works for a control plane of this machine only', () => {
  expect(checkControl('http://localhost:8000/')).toBe('http://localhost:8000');
  expect(checkControl('http://[::1]:1')).toBe('http://[::1]:1');
  for (const wrong of ['8000', 'ftp://127.0.0.1', 'http://gpu-box:8000', 'http://127.0.0.1.evil.example']) {
    expect(() => checkControl(wrong)).toThrow(expect.objectContaining({ code: 'invalid_control' }) as Error);
  }
});

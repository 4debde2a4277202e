import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive } from './heartbeat';

const INTERVAL_MS = 20;

describe('keepAlive', () => {
  let server: WebSocketServer;
  beforeEach(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  async function connect(): Promise<{ readonly client: WebSocket; readonly socket: WebSocket }> {
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [socket, request] = (await once(server, 'connection')) as [WebSocket, IncomingMessage];
    keepAlive(socket, request.socket, INTERVAL_MS);
    if (client.readyState !== WebSocket.OPEN) await once(client, 'open');
    return { client, socket };
  }

  it('ends a socket whose other end no longer answers', async () => {
    const { client, socket } = await connect();
    client.pause();
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1006);
    client.terminate();
  });

  it('keeps one that answers', async () => {
    const { client, socket } = await connect();
    for (let pings = 0; pings < 10; pings++) await once(client, 'ping');
    expect(socket.readyState).toBe(WebSocket.OPEN);
    client.terminate();
  });
});

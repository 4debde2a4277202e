import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** How often a socket is asked whether somebody is still there. Proxies close what is silent for a minute. */
export const PING_INTERVAL_MS = 30_000;
const MISSED_INTERVALS = 3;

/** Pings a socket, and ends it when nothing came for three intervals: a machine that lost its network says no goodbye. */
export function keepAlive(socket: WebSocket, carrier: Socket, intervalMs: number = PING_INTERVAL_MS): () => void {
  let seen = carrier.bytesRead;
  let silent = 0;
  const timer = setInterval(() => {
    silent = carrier.bytesRead === seen ? silent + 1 : 0;
    seen = carrier.bytesRead;
    if (silent >= MISSED_INTERVALS) socket.terminate();
    else socket.ping();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

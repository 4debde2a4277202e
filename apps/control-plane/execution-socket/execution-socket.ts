import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type WebSocket, WebSocketServer } from 'ws';
import { SessionToken, TOKEN_HEADER } from '../auth/session-token';
import { SETTINGS, type Settings } from '../config/settings';
import { EventLog } from '../events/event-log';
import { CanvasSessions, Runs } from '../runs/runs';
import { ServerAddress } from '../system/server-address';
import { refuseUpgrade } from '../system/upgrades';
import { WorkerRegistry } from '../workers/worker-registry';
import { ExecutionConnection } from './connection';

/** Close codes of `/ws/execution` beside the standard ones. */
export const WRONG_TOKEN = 4401;
export const WRONG_PLACE = 4003;
const GOING_AWAY = 1001;
/** How long a client gets to answer a close before the connection is cut. */
const CLOSE_GRACE_MS = 1_000;
/** How long the last events of runs may take to reach clients when the server stops. */
const LAST_EVENTS_MS = 1_000;

/** The sockets of `/ws/execution`: guards, and one connection each. */
@Injectable()
export class ExecutionSocket {
  private readonly logger = new Logger('execution-socket');
  private readonly server: WebSocketServer;
  private readonly connections = new Set<ExecutionConnection>();

  constructor(
    private readonly runs: Runs,
    private readonly log: EventLog,
    private readonly sessions: CanvasSessions,
    private readonly workers: WorkerRegistry,
    private readonly token: SessionToken,
    private readonly address: ServerAddress,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.server = new WebSocketServer({
      noServer: true,
      // A larger message closes the socket with 1009.
      maxPayload: settings.wsMaxMessageBytes,
      // Compressing costs more than this machine's own network, and memory for each socket.
      perMessageDeflate: false,
    });
  }

  /** Sockets that are open. */
  get count(): number {
    return this.server.clients.size;
  }

  /** Bytes that wait in this process for clients that read slowly. */
  get bufferedBytes(): number {
    let bytes = 0;
    for (const client of this.server.clients) bytes += client.bufferedAmount;
    return bytes;
  }

  /** Called when runs have ended: lets clients see how, tells every one that the server goes away, and waits until they are gone. */
  async close(): Promise<void> {
    await within(LAST_EVENTS_MS, Promise.all([...this.connections].map((connection) => connection.caughtUp())));
    const gone = [...this.server.clients].map(
      (client) =>
        new Promise<void>((resolve) => {
          client.once('close', () => resolve());
          client.close(GOING_AWAY, 'The server stops');
        }),
    );
    const timer = setTimeout(() => this.server.clients.forEach((client) => client.terminate()), CLOSE_GRACE_MS);
    await Promise.all(gone);
    clearTimeout(timer);
    this.server.close();
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { host, origin } = request.headers;
    const { allowlist } = this.address;
    if (!allowlist?.allows(host)) {
      return refuseUpgrade(socket, 403, {
        code: WRONG_PLACE,
        detail: `This server does not answer for host "${host ?? ''}"`,
      });
    }
    if (!allowlist.allowsOrigin(origin, host)) {
      return refuseUpgrade(socket, 403, {
        code: WRONG_PLACE,
        detail: `Pages of ${origin} may not open sockets to this server`,
      });
    }
    this.server.handleUpgrade(request, socket, head, (client) => this.accept(client, request));
  }

  private accept(client: WebSocket, request: IncomingMessage): void {
    if (!this.admits(request)) {
      client.on('error', () => undefined);
      // Not before the upgrade: a browser could not tell its page why.
      client.close(WRONG_TOKEN, 'Missing or invalid session token');
      return;
    }
    const { runs, log, sessions, workers, logger } = this;
    const connection = new ExecutionConnection(client, request.socket, { runs, log, sessions, workers, logger });
    this.connections.add(connection);
    client.once('close', () => this.connections.delete(connection));
  }

  private admits({ headers, url }: IncomingMessage): boolean {
    if (this.token.matches(headers[TOKEN_HEADER])) return true;
    const query = url?.split('?')[1];
    return query !== undefined && this.token.matches(new URLSearchParams(query).get('token'));
  }
}

/** Waits for work, but no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

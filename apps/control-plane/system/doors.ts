import type { Server } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { ExecutionSocket } from '../execution-socket/execution-socket';
import { WorkerSocket } from '../workers/local/worker-socket';
import { routeUpgrades } from './upgrades';

/** How long requests that are being answered may take when the server stops. */
const GRACE_MS = 2_000;

/** Where clients come in; closed after runs have ended and before the database is. */
@Injectable()
export class Doors implements BeforeApplicationShutdown {
  private server: Server | null = null;

  constructor(
    private readonly sockets: ExecutionSocket,
    private readonly workers: WorkerSocket,
  ) {}

  open(server: Server): void {
    this.server = server;
    routeUpgrades(server, {
      '/ws/execution': (request, socket, head) => this.sockets.upgrade(request, socket, head),
      '/ws/worker': (request, socket, head) => this.workers.upgrade(request, socket, head),
    });
  }

  /** Clients have seen the last events by now. An idle connection, or one that never finishes, must not keep the server from stopping. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.sockets.close(), this.workers.close()]);
    this.server?.closeIdleConnections();
    setTimeout(() => this.server?.closeAllConnections(), GRACE_MS).unref();
  }
}

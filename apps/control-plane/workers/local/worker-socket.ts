import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { MAX_AGENT_MESSAGE_BYTES, WORKER_CLOSE } from '@cdui/protocol';
import { WebSocketServer } from 'ws';
import { SessionToken, TOKEN_HEADER } from '../../auth/session-token';
import { ServerAddress } from '../../system/server-address';
import { refuseUpgrade } from '../../system/upgrades';
import { isLoopback } from '../identities';
import type { WorkerCredential } from '../transport';
import { WorkerRegistry } from '../worker-registry';
import { WsTransport } from './ws-transport';

/** The sockets of `/ws/worker`: who may connect is settled before the upgrade. */
@Injectable()
export class WorkerSocket {
  private readonly server = new WebSocketServer({
    noServer: true,
    // A larger message closes the socket with 1009.
    maxPayload: MAX_AGENT_MESSAGE_BYTES,
    // What a small message inflates to is nobody's to decide.
    perMessageDeflate: false,
  });

  constructor(
    private readonly registry: WorkerRegistry,
    private readonly token: SessionToken,
    private readonly address: ServerAddress,
  ) {}

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { host, origin } = request.headers;
    if (!this.address.allowlist?.allows(host)) {
      const detail = `This server does not answer for host "${host ?? ''}"`;
      return refuseUpgrade(socket, 403, { code: WORKER_CLOSE.place, detail });
    }
    if (origin !== undefined) {
      return refuseUpgrade(socket, 403, {
        code: WORKER_CLOSE.place,
        detail: 'This socket is for agents, not for pages',
      });
    }
    const credential = this.credentialOf(request);
    if (typeof credential === 'string') {
      return refuseUpgrade(socket, 401, { code: WORKER_CLOSE.credential, detail: credential });
    }
    this.server.handleUpgrade(request, socket, head, (client) => {
      this.registry.accept(new WsTransport(client, request.socket), credential);
    });
  }

  /** Waits until every socket is closed. */
  async close(): Promise<void> {
    this.registry.close();
    const gone = [...this.server.clients].map((client) => new Promise((resolve) => client.once('close', resolve)));
    await Promise.all(gone);
    this.server.close();
  }

  /** @returns a sentence when it is none that counts */
  private credentialOf({ headers, url, socket }: IncomingMessage): WorkerCredential | string {
    const shown = headers[TOKEN_HEADER] ?? new URLSearchParams(url?.split('?')[1]).get('token');
    if (!this.token.matches(shown)) return 'The credential is missing, or is none of this server';
    if (!isLoopback(socket.remoteAddress ?? ''))
      return 'The session token counts only on the machine of the server itself';
    return { kind: 'session', name: null };
  }
}

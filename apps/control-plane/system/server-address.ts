import { Inject, Injectable } from '@nestjs/common';
import { HostAllowlist } from '../auth/host-allowlist';
import { SETTINGS, type Settings } from '../config/settings';

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/i;

/** Where the server listens. The port is known once it does: settings may leave its choice to the system. */
@Injectable()
export class ServerAddress {
  private names: HostAllowlist | null = null;
  private boundPort = 0;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  listensOn(port: number): void {
    const { host, extraAllowedHosts, corsOrigins } = this.settings;
    this.boundPort = port;
    this.names = new HostAllowlist({ bindHost: host, port, extraAllowedHosts, corsOrigins });
  }

  /** Whose requests are answered; null before it listens. */
  get allowlist(): HostAllowlist | null {
    return this.names;
  }

  get port(): number {
    return this.boundPort;
  }

  /** An address that a program on this machine can open: a wildcard is none. */
  get url(): string {
    const { host } = this.settings;
    const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' || host === '[::]' ? '[::1]' : host;
    return `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${this.boundPort}`;
  }

  /** Whether other machines can reach it. */
  get exposed(): boolean {
    return !LOOPBACK.test(this.settings.host);
  }
}

import { networkInterfaces } from 'node:os';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]', '::1'];
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

/** What decides which names and pages are this server's own. */
export interface Surroundings {
  readonly bindHost: string;
  readonly port: number;
  readonly extraAllowedHosts: readonly string[];
  /** Origins of pages that are served elsewhere and may use this server, such as `http://localhost:5173`. */
  readonly corsOrigins: readonly string[];
}

/**
 * Decides which Host headers are this server's own, so that a page on another site cannot reach it through a name it
 * controls (DNS rebinding), and which pages may open sockets to it.
 */
export class HostAllowlist {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;

  constructor({ bindHost, port, extraAllowedHosts, corsOrigins }: Surroundings) {
    const names = [...LOOPBACK, bindHost.toLowerCase()].flatMap((name) => [name, `${name}:${port}`]);
    const interfaces = WILDCARDS.has(bindHost)
      ? Object.values(networkInterfaces())
          .flatMap((list) => list ?? [])
          .map((entry) => (entry.family === 'IPv6' ? `[${entry.address}]:${port}` : `${entry.address}:${port}`))
      : [];
    const pages = corsOrigins.flatMap((origin) => hostOf(origin) ?? []);
    this.hosts = new Set([...names, ...interfaces, ...extraAllowedHosts.map((host) => host.toLowerCase()), ...pages]);
    this.origins = new Set(corsOrigins.map((origin) => origin.toLowerCase()));
  }

  allows(header: string | undefined): boolean {
    return header !== undefined && this.hosts.has(header.trim().toLowerCase());
  }

  /** A request without an origin comes from no page. One with it must come from a page of this very host, or of a listed origin. */
  allowsOrigin(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined) return true;
    const asked = origin.trim().toLowerCase();
    return this.origins.has(asked) || hostOf(asked) === host?.trim().toLowerCase();
  }
}

/** `host[:port]` of an origin; undefined for what is none, such as the `null` that sandboxed pages send. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/?#@]+)$/.exec(origin.toLowerCase())?.[1];
}

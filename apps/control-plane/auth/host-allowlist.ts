import { networkInterfaces } from 'node:os';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]', '::1'];
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

/**
 * Decides which Host headers are this server's own, so that a page on another site cannot reach it through a name it
 * controls (DNS rebinding).
 */
export class HostAllowlist {
  private readonly entries: ReadonlySet<string>;

  constructor(bindHost: string, port: number, extra: readonly string[]) {
    const names = [...LOOPBACK, bindHost.toLowerCase()].flatMap((name) => [name, `${name}:${port}`]);
    const interfaces = WILDCARDS.has(bindHost)
      ? Object.values(networkInterfaces())
          .flatMap((list) => list ?? [])
          .map((entry) => (entry.family === 'IPv6' ? `[${entry.address}]:${port}` : `${entry.address}:${port}`))
      : [];
    this.entries = new Set([...names, ...interfaces, ...extra]);
  }

  allows(header: string | undefined): boolean {
    return header !== undefined && this.entries.has(header.trim().toLowerCase());
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';

/** The server as a program of its own, in a temporary folder, and all that it prints. */
export class ServerProcess {
  output = '';
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;

  private constructor(
    readonly folder: string,
    private readonly child: ChildProcess,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  /** Resolves when it answers; `through` is a command that becomes the one that follows it. */
  static async start(
    env: Readonly<Record<string, string>> = {},
    prepare: (folder: string) => void = () => undefined,
    through: readonly string[] = [],
  ): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-process-'));
    prepare(folder);
    const [program, ...args] = [...through, process.execPath, entryPath('apps/control-plane/main')];
    const child = spawn(program, args, {
      env: { ...process.env, CODEFYUI_PORT: '0', CODEFYUI_USER_DATA_DIR: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A core file, should there be one, lies where a test can see it.
      cwd: folder,
    });
    const server = new ServerProcess(folder, child);
    await server.prints(/answers at http/);
    return server;
  }

  /** Resolves when what it printed matches; rejects when it ends before. */
  async prints(text: RegExp): Promise<void> {
    while (!text.test(this.output)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(`It ended: ${this.output}`);
      await Promise.race([once(this.child.stdout!, 'data'), once(this.child.stderr!, 'data'), this.ended]);
    }
  }

  /** Where a path of the server's own mounts lies for others. */
  seen(path: string): string {
    return join(`/proc/${this.child.pid}/root`, path);
  }

  get url(): string {
    return (JSON.parse(readFileSync(join(this.folder, 'server.addr'), 'utf8')) as { url: string }).url;
  }

  get token(): string {
    return readFileSync(join(this.folder, 'session.token'), 'utf8');
  }

  fetch(
    path: string,
    init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const { method = 'GET', body, headers = {} } = init;
    return fetch(this.url + path, {
      method,
      headers: { 'x-codefyui-token': this.token, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Reads no more of what it prints. */
  hangUp(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Ends it, however it is, and removes its folder. */
  async remove(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

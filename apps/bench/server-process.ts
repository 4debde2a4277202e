import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';

/** A node that computes nothing and ends when it is told to: runs of it hold their slots and leave the processor alone. */
const WAIT = `module.exports = (sdk) => ({
  name: 'Wait', category: 'Test', description: '', outputs: { value: 'ANY' },
  execute: (context) => new Promise((resolve) => context.signal.addEventListener('abort', () => resolve({ value: 1 }))),
});\n`;

/** A real server, as users start it, in a folder of its own. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly folder: string,
    readonly url: string,
    readonly token: string,
    private readonly client: HttpClient,
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-bench-'));
    return ServerProcess.on(folder, env);
  }

  /** Another one on the folder of one that was killed. */
  async again(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const { port } = new URL(this.url);
    return ServerProcess.on(this.folder, { CODEFYUI_PORT: port, ...env });
  }

  private static async on(folder: string, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
    mkdirSync(join(folder, 'data/custom_nodes'), { recursive: true });
    writeFileSync(join(folder, 'data/custom_nodes/wait.js'), WAIT);
    const child = spawn(process.execPath, [entryPath('apps/control-plane/main')], {
      env: { ...process.env, CODEFYUI_USER_DATA_DIR: folder, CODEFYUI_PORT: '0', CODEFYUI_LOG_LEVEL: 'error', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await said(child, /http:\/\/\S+/);
    const token = readFileSync(join(folder, 'session.token'), 'utf8').trim();
    return new ServerProcess(child, folder, url, token, new HttpClient(url, token));
  }

  /** @returns the body of the answer */
  post(path: string, body: string): Promise<string> {
    return this.client.send('POST', path, body);
  }

  get(path: string): Promise<string> {
    return this.client.send('GET', path, null);
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** It dies without a word; its folder stays. */
  async crash(): Promise<void> {
    this.client.close();
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }

  /** Nothing of it is needed any more. */
  async kill(): Promise<void> {
    await this.crash();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Sends over connections that stay open. */
export class HttpClient {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  send(method: string, path: string, body: string | null): Promise<string> {
    const bytes = body === null ? null : Buffer.from(body);
    const headers = {
      'x-codefyui-token': this.token,
      ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, this.url), { method, headers, agent: this.agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 500)}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Waits until the process writes something that fits. */
export function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`The process ended with ${code} before it was ready: ${text}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const match = pattern.exec(text);
      if (match) resolve(match[0]);
    });
  });
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder of its own in which `cdui` is used as a person would, the bundled program and real servers included. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'cdui-cli-'));
  readonly data = join(this.folder, 'user');
  private readonly started: ChildProcess[] = [];

  get env(): NodeJS.ProcessEnv {
    return { ...process.env, CODEFYUI_USER_DATA_DIR: this.data, CODEFYUI_PORT: '0', NO_COLOR: '1' };
  }

  cdui(...args: readonly string[]): Promise<Ended> {
    return new Promise((resolve) => {
      const options = { env: this.env, cwd: this.folder, maxBuffer: 64 * 1024 * 1024 };
      execFile(process.execPath, [entryPath('apps/cli/main'), ...args], options, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });
  }

  /** A command that goes on: what it says is gathered. */
  spawn(...args: readonly string[]): Going {
    const child = spawn(process.execPath, [entryPath('apps/cli/main'), ...args], {
      env: this.env,
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.started.push(child);
    return new Going(child);
  }

  file(name: string, content: unknown): string {
    const path = join(this.folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** The address file of the server; null when there is none. */
  get address(): { readonly url: string; readonly pid: number; readonly boot_id: string } | null {
    try {
      return JSON.parse(readFileSync(join(this.data, 'server.addr'), 'utf8')) as NonNullable<Workplace['address']>;
    } catch {
      return null;
    }
  }

  /** Ends everything that was started here, by number, and removes the folder. */
  async remove(): Promise<void> {
    for (const child of this.started) child.kill('SIGKILL');
    await this.cdui('stop', '--timeout', '10');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A command that is under way. */
export class Going {
  out = '';
  err = '';
  readonly ended: Promise<number | null>;
  private readonly listeners = new Set<() => void>();

  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (text) => this.take('out', String(text)));
    child.stderr?.on('data', (text) => this.take('err', String(text)));
    this.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)));
    void this.ended.then(() => this.listeners.forEach((listener) => listener()));
  }

  /** Resolves when standard output (or error) holds the words; rejects when the command ends without. */
  async said(words: string | RegExp, where: 'out' | 'err' = 'out'): Promise<void> {
    const there = (): boolean => (typeof words === 'string' ? this[where].includes(words) : words.test(this[where]));
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (there()) resolve();
        else if (this.child.exitCode !== null || this.child.signalCode !== null) {
          reject(new Error(`ended without saying ${String(words)}:\n${this.out}\n${this.err}`));
        } else return;
        this.listeners.delete(look);
      };
      this.listeners.add(look);
      look();
    });
  }

  private take(where: 'out' | 'err', text: string): void {
    this[where] += text;
    this.listeners.forEach((listener) => listener());
  }
}

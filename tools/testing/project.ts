import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { delimiter, dirname, join, resolve } from 'node:path';

const workspace = resolve(__dirname, '../..');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A small clone: the real scripts, a source file or two, and an `npm` that only writes down that it was called. */
export class Project {
  readonly root = mkdtempSync(join(tmpdir(), 'cdui-project-'));

  constructor(files: Readonly<Record<string, string>>) {
    cpSync(join(workspace, 'scripts'), join(this.root, 'scripts'), { recursive: true });
    for (const name of ['package.json', '.swcrc']) {
      cpSync(join(workspace, name), join(this.root, name));
    }
    this.write('package-lock.json', JSON.stringify({ packages: { '': {} } }));
    for (const [path, text] of Object.entries(files)) {
      this.write(path, text);
    }
    this.npm('');
  }

  /** Installs a stand-in for npm: it records the call, does what the shell text says, then makes `node_modules`. */
  npm(shell: string): void {
    const modules = join(this.root, 'node_modules');
    this.write(
      'bin/npm',
      [
        '#!/bin/sh',
        `echo "npm $* nodedir=$npm_config_nodedir" >> "${join(this.root, 'npm.log')}"`,
        shell,
        `mkdir -p "${modules}"`,
        `ln -sfn "${join(workspace, 'node_modules/@swc')}" "${join(modules, '@swc')}"`,
        '',
      ].join('\n'),
    );
    chmodSync(join(this.root, 'bin/npm'), 0o755);
  }

  /** How npm was called so far. */
  get npmCalls(): string[] {
    return this.read('npm.log').split('\n').filter(Boolean);
  }

  start(...args: string[]): ChildProcess {
    return this.startWith([], ...args);
  }

  /** Starts a script with options of Node's own, which the programs it starts do not get. */
  startWith(options: readonly string[], ...args: string[]): ChildProcess {
    const path = `${join(this.root, 'bin')}${delimiter}${process.env['PATH']}`;
    return spawn(process.execPath, [...options, 'scripts/run.cjs', ...args], {
      cwd: this.root,
      env: { ...process.env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A session of its own has no terminal: what a signal does here does not depend on who runs the tests.
      detached: true,
    });
  }

  async run(...args: string[]): Promise<Finished> {
    return finished(this.start(...args));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return existsSync(join(this.root, path)) ? readFileSync(join(this.root, path), 'utf8') : '';
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Everything a process says, and how it ends. */
export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
}

/** Resolves when `text` has come out of a process's stream. */
export function said(stream: Readable | null, text: string): Promise<void> {
  let all = '';
  return new Promise((done, fail) => {
    stream?.on('data', (chunk: Buffer | string) => {
      all += chunk.toString();
      if (all.includes(text)) {
        done();
      }
    });
    stream?.once('close', () => fail(new Error(`ended without saying ${JSON.stringify(text)}: ${all}`)));
  });
}

import { type ChildProcess, spawn } from 'node:child_process';
import { entryPath } from '@cdui/host/entry';
import type { ServerProcess } from './server-process';

/** Many agents in a process of their own: see `fleet.ts`. */
export class Fleet {
  private readonly child: ChildProcess;
  private text = '';

  constructor({ url, token }: ServerProcess, index: number, count: number) {
    const place = [`${url.replace('http', 'ws')}/ws/worker`, token, String(index * count), String(count)];
    this.child = spawn(process.execPath, [entryPath('apps/bench/fleet'), ...place], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  tell(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** @returns what it answers */
  ask(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const onData = (chunk: Buffer): void => {
        this.text += chunk.toString();
        const match = /welcomed (.*)\n/.exec(this.text);
        if (!match) return;
        this.text = '';
        this.child.stdout?.off('data', onData);
        resolve(match[1]!);
      };
      this.child.stdout?.on('data', onData);
      this.child.once('exit', (code) => reject(new Error(`The fleet ended with ${code}`)));
      this.tell(line);
    });
  }

  end(): void {
    this.child.kill('SIGKILL');
  }
}

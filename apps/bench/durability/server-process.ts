import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '@cdui/api-client';
import { entryPath } from '@cdui/host/entry';

const READY_MS = 60_000;
const LOOK_MS = 10;

/** How a process ended: one of the two. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The server as its own program, on a folder, to be killed. */
export class ServerProcess {
  readonly ended: Promise<Ending>;

  private constructor(
    private readonly folder: string,
    readonly child: ChildProcess,
  ) {
    this.ended = once(child, 'exit').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
  }

  /** Starts it; it does not answer yet. */
  static spawn(folder: string, env: Readonly<Record<string, string>> = {}): ServerProcess {
    mkdirSync(folder, { recursive: true });
    const log = openSync(join(folder, 'server.log'), 'a');
    const child = spawn(process.execPath, [entryPath('apps/control-plane/main')], {
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        CODEFYUI_USER_DATA_DIR: folder,
        CODEFYUI_PORT: '0',
        CODEFYUI_LOG_LEVEL: 'warn',
        CODEFYUI_RUN_RETENTION_KEEP_LAST: '-1',
        ...env,
      },
    });
    closeSync(log);
    return new ServerProcess(folder, child);
  }

  /** Its client, once it answers. @throws Error with its log when it ends before */
  async ready(): Promise<ApiClient> {
    const end = performance.now() + READY_MS;
    let over = false;
    void this.ended.then(() => (over = true));
    for (;;) {
      const address = this.address();
      if (address !== null) {
        const token = readFileSync(join(this.folder, 'session.token'), 'utf8');
        return new ApiClient({ url: address.url, token });
      }
      if (over || performance.now() > end) {
        throw new Error(
          `The server did not start:\n${readFileSync(join(this.folder, 'server.log'), 'utf8').slice(-4000)}`,
        );
      }
      await sleep(LOOK_MS);
    }
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private address(): { readonly url: string } | null {
    try {
      const address = JSON.parse(readFileSync(join(this.folder, 'server.addr'), 'utf8')) as {
        url: string;
        pid: number;
      };
      return address.pid === this.child.pid ? address : null;
    } catch {
      return null;
    }
  }
}

/** Puts a node type into the folder of a server that starts later. */
export function customNode(folder: string, name: string, body: string): void {
  const nodes = join(folder, 'data', 'custom_nodes');
  mkdirSync(nodes, { recursive: true });
  writeFileSync(
    join(nodes, `${name}.js`),
    `module.exports = (sdk) => sdk.defineNode({
      name: '${name}', category: 'Test', description: '', outputs: { out: 'ANY' }, params: { count: sdk.param.int(1, { min: 0 }) },
      async execute(context, inputs, params) { ${body} },
    });`,
  );
}

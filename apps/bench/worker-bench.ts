import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import { said, ServerProcess } from './server-process';

const WORKER = 'bench';

/** Reports so many frames of a training loop as fast as they are taken. */
const REPORT = `module.exports = ({ defineNode, param }) => defineNode({
  name: 'Report', category: 'Test', description: '', outputs: { value: 'ANY' }, cacheable: false,
  params: { count: param.int(1, { min: 1 }) },
  async execute(context, inputs, params) {
    const count = params.int('count');
    for (let i = 0; i < count; i++) {
      context.progress({ event: 'batch', epoch: 1 + Math.floor(i / 938), epochs: 10, batch: i % 938, batches: 938, loss: 2.3 / (1 + i * 0.001), lr: 0.001 });
      if (i % 64 === 63) await context.drained();
    }
    return { value: 1 };
  },
});\n`;

/** Writes down when it hears that it should stop, on the machine's clock. */
const LISTEN = `const { writeFileSync } = require('node:fs');
module.exports = ({ defineNode, param }) => defineNode({
  name: 'Listen', category: 'Test', description: '', outputs: { value: 'ANY' }, cacheable: false,
  params: { file: param.text('') },
  execute: (context, inputs, params) => new Promise((resolve) => context.signal.addEventListener('abort', () => {
    writeFileSync(params.text('file'), String(performance.timeOrigin + performance.now()));
    resolve({ value: 1 });
  })),
});\n`;

/** A real server and a real agent beside it, as users start them, in a folder of their own. */
export class WorkerBench {
  private constructor(
    readonly server: ServerProcess,
    private readonly agent: ChildProcess,
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<WorkerBench> {
    const server = await ServerProcess.start(env);
    const nodes = join(server.folder, 'data/custom_nodes');
    mkdirSync(nodes, { recursive: true });
    writeFileSync(join(nodes, 'report.js'), REPORT);
    writeFileSync(join(nodes, 'listen.js'), LISTEN);
    await server.post('/api/nodes/reload', '{}');
    const agent = spawn(process.execPath, [entryPath('apps/agent/main'), '--name', WORKER, '--control', server.url], {
      env: { ...process.env, CODEFYUI_USER_DATA_DIR: server.folder, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await said(agent, /Connected as worker/);
    return new WorkerBench(server, agent);
  }

  async submit(graph: object, options: object = {}): Promise<string> {
    const body = JSON.stringify({ graph, options });
    return (JSON.parse(await this.server.post('/api/runs', body)) as { run_id: string }).run_id;
  }

  /** On the worker. */
  submitThere(graph: object, options: object = {}): Promise<string> {
    return this.submit(graph, { ...options, target: { worker: WORKER } });
  }

  /** Waits for the run's end. @returns its row */
  async ended(
    id: string,
  ): Promise<{ readonly status: string; readonly started_at: string; readonly finished_at: string }> {
    for (;;) {
      const row = JSON.parse(await this.server.get(`/api/runs/${id}`)) as {
        readonly status: string;
        readonly active: boolean;
        readonly started_at: string;
        readonly finished_at: string;
        readonly error: string | null;
      };
      if (!row.active) {
        if (row.status !== 'succeeded' && row.status !== 'cancelled') throw new Error(`Run ${id}: ${row.error}`);
        return row;
      }
      await this.server.get(`/api/runs/${id}/events?cursor=${await this.newest(id)}&wait=20&limit=1`);
    }
  }

  /** The time of the first event of that type, in milliseconds since the epoch. */
  async timeOf(id: string, cursor: number): Promise<number> {
    const page = JSON.parse(await this.server.get(`/api/runs/${id}/events?cursor=${cursor - 1}&limit=1`)) as {
      readonly events: readonly { readonly ts: string }[];
    };
    return Date.parse(page.events[0]!.ts);
  }

  async newest(id: string): Promise<number> {
    return (JSON.parse(await this.server.get(`/api/runs/${id}`)) as { readonly last_cursor: number }).last_cursor;
  }

  async kill(): Promise<void> {
    this.agent.kill('SIGTERM');
    if (this.agent.exitCode === null && this.agent.signalCode === null) await once(this.agent, 'exit');
    await this.server.kill();
  }
}

/** One node of a type, run by a trigger. */
export function graphOf(type: string, params: object = {}): object {
  return {
    nodes: [
      { id: 'start', type: 'Start' },
      { id: 'node', type, data: { params } },
    ],
    edges: [{ source: 'start', sourceHandle: 'trigger', target: 'node', type: 'trigger' }],
  };
}

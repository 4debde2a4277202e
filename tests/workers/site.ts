import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEventsPage, RunRow, WorkerRow } from '@cdui/protocol';
import { AgentProcess } from '../../apps/agent/testing/agent-process';
import { graphOf, writeCustomNodes } from '../../apps/control-plane/testing/custom-nodes';
import { TestServer } from '../../apps/control-plane/testing/test-server';

/** What nodes of these tests do, besides those that a test brings. */
const NODES = {
  Give: 'return { value: 1 };',
  // Ends when its gate is opened.
  Await: `const { existsSync } = require('node:fs'); const gate = process.env.TEST_GATES + '/' + params.text('key'); while (!context.cancelled && !existsSync(gate)) await new Promise((next) => setTimeout(next, 5)); return { value: 1 };`,
};

/** A server, and agents that are programs of their own, on one user data folder. */
export class Site {
  private readonly agents: AgentProcess[] = [];

  private constructor(private readonly server: TestServer) {}

  static async open(nodes: Readonly<Record<string, string>> = {}): Promise<Site> {
    const prepare = (folder: string): void => {
      writeCustomNodes(folder, { ...NODES, ...nodes });
      mkdirSync(join(folder, 'gates'));
    };
    return new Site(await TestServer.start({ CODEFYUI_WORKER_HEARTBEAT_S: '1' }, prepare));
  }

  get folder(): string {
    return this.server.folder;
  }

  private get gates(): string {
    return join(this.folder, 'gates');
  }

  /** Lets the nodes `Await` of that key end, those that come later included. */
  openGate(key: string): void {
    writeFileSync(join(this.gates, key), '');
  }

  /** An agent that is connected. */
  async agent(name: string, env: NodeJS.ProcessEnv = {}): Promise<AgentProcess> {
    const agent = new AgentProcess(this.folder, name, {
      args: ['--control', this.server.url],
      env: { TEST_GATES: this.gates, ...env },
    });
    this.agents.push(agent);
    await agent.prints(/Connected as worker/);
    await this.worker(name, ({ status }) => status === 'online');
    return agent;
  }

  async submit(type: string, options: object, key = ''): Promise<string> {
    const graph = graphOf(type, { key });
    const { status, json } = await this.server.post('/api/runs', { graph, options });
    expect({ status, json }).toMatchObject({ status: 200 });
    return (json as { run_id: string }).run_id;
  }

  /** The answer's status and body. */
  async order(path: string, token = true): Promise<{ readonly status: number; readonly json: unknown }> {
    const { status, json } = await this.server.send('POST', path, { token });
    return { status, json };
  }

  drain(name: string): Promise<unknown> {
    return this.order(`/api/workers/${name}/drain`);
  }

  undrain(name: string): Promise<unknown> {
    return this.order(`/api/workers/${name}/undrain`);
  }

  /** The run's row, when it is as wanted. */
  run(id: string, fits: (row: RunRow) => boolean = () => true): Promise<RunRow> {
    return until(async () => (await this.server.get(`/api/runs/${id}`)).json as RunRow, fits);
  }

  /** The run's row, once its process has begun it. */
  async begun(id: string): Promise<RunRow> {
    return this.run(id, ({ execution_facts: facts }) => facts?.['device_aliases'] !== undefined);
  }

  ended(id: string): Promise<RunRow> {
    return this.run(id, ({ active }) => !active);
  }

  /** The worker's row, when it is as wanted. */
  worker(name: string, fits: (row: WorkerRow) => boolean = () => true): Promise<WorkerRow> {
    return until(async () => (await this.server.get(`/api/workers/${name}`)).json as WorkerRow, fits);
  }

  /** Device -> how many runs it has. */
  async used(name: string): Promise<Readonly<Record<string, number>>> {
    const { devices } = await this.worker(name);
    return Object.fromEntries(devices.map(({ device, slots }) => [device, slots.used]));
  }

  async events(id: string): Promise<readonly string[]> {
    const page = (await this.server.get(`/api/runs/${id}/events?limit=2000`)).json as RunEventsPage;
    return page.events.map(({ type }) => type);
  }

  async printed(id: string): Promise<string> {
    return (await this.server.get(`/api/runs/${id}/log`)).text;
  }

  async endAgents(): Promise<void> {
    for (const agent of this.agents.splice(0)) await agent.end();
  }

  async close(): Promise<void> {
    await this.endAgents();
    await this.server.close();
  }
}

export async function until<T>(look: () => Promise<T> | T, fits: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

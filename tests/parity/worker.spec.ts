import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunStore } from '@cdui/execution';
import type { GraphFile, RunEventsPage, RunRow, RunSubmitted } from '@cdui/protocol';
import { AgentProcess } from '../../apps/agent/testing/agent-process';
import { graphOf, writeCustomNodes } from '../../apps/control-plane/testing/custom-nodes';
import { TestServer } from '../../apps/control-plane/testing/test-server';
import { RUN_STORE } from '../../apps/control-plane/tokens';
import { eventsOf } from './run-events';

const ROOT = join(__dirname, '../..');
const GRAPH = join(__dirname, 'parity.graph.json');

describe('a run on a worker', () => {
  let server: TestServer;
  let agent: AgentProcess;

  beforeAll(async () => {
    server = await TestServer.start({ CODEFYUI_EXAMPLES_DIR: join(ROOT, 'examples') }, (folder) =>
      writeCustomNodes(folder, { Sleep: 'await new Promise((go) => setTimeout(go, 400)); return { value: 1 };' }),
    );
    agent = new AgentProcess(server.folder, 'parity', { args: ['--control', server.url] });
    await agent.prints(/Connected as worker parity/);
  });

  afterAll(async () => {
    await agent.end();
    await server.close();
  });

  it('stores the same events as one on the server itself, to the last digit', async () => {
    const graph = JSON.parse(readFileSync(GRAPH, 'utf8')) as GraphFile;
    const here = await eventsOf(server, graph);
    const there = await eventsOf(server, graph, { target: { worker: 'parity' } });
    expect(there).toEqual(here);
    expect(here.at(-1)?.type).toBe('execution_complete');
  });

  it('takes as long there, as its events say', async () => {
    const took = async (options: object): Promise<number> => {
      const { run_id: id } = (await server.post('/api/runs', { graph: graphOf('Sleep'), options }))
        .json as RunSubmitted;
      for (;;) {
        const page = (await server.get(`/api/runs/${id}/events?limit=100`)).json as RunEventsPage;
        const of = (status: string): number =>
          Date.parse(page.events.findLast(({ payload }) => payload?.['status'] === status)?.ts ?? '');
        if (!page.active) return of('completed') - of('running');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    for (const options of [{}, { target: { worker: 'parity' } }]) {
      const ms = await took(options);
      expect(ms).toBeGreaterThanOrEqual(395);
      expect(ms).toBeLessThan(2_000);
    }
  });

  it('tells where the code of its nodes comes from, as the server does', async () => {
    const graph = JSON.parse(readFileSync(GRAPH, 'utf8')) as GraphFile;
    const store = server.server.app.get<RunStore>(RUN_STORE);
    const recordsOf = async (options: object): Promise<readonly unknown[]> => {
      const { run_id: id } = (await server.post('/api/runs', { graph, options })).json as RunSubmitted;
      for (;;) {
        const { active } = (await server.get(`/api/runs/${id}`)).json as RunRow;
        if (!active) return store.provenance(id);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const here = await recordsOf({ provenance: true });
    expect(await recordsOf({ provenance: true, target: { worker: 'parity' } })).toEqual(here);
    expect(here.length).toBeGreaterThan(3);
  });
});

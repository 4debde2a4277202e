import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunStore } from '@cdui/execution';
import type { GraphFile, RunDetail, RunEventsPage, RunEventView, RunList, RunSubmitted } from '@cdui/protocol';
import { RUN_STORE } from '../../tokens';
import { TestServer } from '../../testing/test-server';

const EXAMPLES = join(__dirname, '../../../../examples');

/** Custom nodes of these tests, by what their `execute` does. */
const NODES = {
  Give: `return { value: 1 };`,
  Patient: `while (!context.cancelled) await new Promise((go) => setTimeout(go, 5)); return { value: 1 };`,
  Tell: `context.log('the key is ' + params.text('key')); return { value: params.text('key').length };`,
};

function writeNodes(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, body] of Object.entries(NODES)) {
    writeFileSync(
      join(folder, `${name}.js`),
      `module.exports = (sdk) => ({
        name: '${name}', category: 'Test', description: '', inputs: { in: 'ANY?' }, outputs: { value: 'ANY' },
        params: { key: sdk.param.secret() },
        async execute(context, inputs, params) { ${body} },
      });\n`,
    );
  }
}

function graphOf(type: string, params: Readonly<Record<string, unknown>> = {}): GraphFile {
  return {
    name: type,
    nodes: [
      { id: 'start', type: 'Start' },
      { id: 'node', type, data: { params } },
      { id: 'after', type: 'Give' },
    ],
    edges: [
      { source: 'start', sourceHandle: 'trigger', target: 'node', type: 'trigger' },
      { source: 'node', sourceHandle: 'value', target: 'after', targetHandle: 'in' },
    ],
  };
}

describe('the runs of a server', () => {
  let folder: string;
  let server: TestServer;

  const start = (env: Readonly<Record<string, string>> = {}): Promise<TestServer> =>
    TestServer.start({ CODEFYUI_USER_DATA_DIR: folder, CODEFYUI_EXAMPLES_DIR: EXAMPLES, ...env });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-runs-'));
    writeNodes(join(folder, 'data/custom_nodes'));
    server = await start();
  });

  afterEach(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function submit(graph: GraphFile, options: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const answer = await server.post('/api/runs', { graph, options });
    if (answer.status !== 200) throw new Error(answer.text);
    return (answer.json as RunSubmitted).run_id;
  }

  /** Follows the run until an event of that type has come, or it has ended. */
  async function follow(id: string, until?: (event: RunEventView) => boolean): Promise<readonly RunEventView[]> {
    const events: RunEventView[] = [];
    for (;;) {
      const path = `/api/runs/${id}/events?cursor=${events.at(-1)?.cursor ?? 0}&wait=20`;
      const page = (await server.get(path)).json as RunEventsPage;
      events.push(...page.events);
      if (until && page.events.some(until)) return events;
      if (!page.active && page.events.length === 0) return events;
    }
  }

  async function detail(id: string): Promise<RunDetail> {
    return (await server.get(`/api/runs/${id}`)).json as RunDetail;
  }

  it('trains the example on a table, with metrics, facts and a fingerprint', async () => {
    const graph = JSON.parse(readFileSync(join(EXAMPLES, 'mlp-csv.graph.json'), 'utf8')) as GraphFile;
    const id = await submit(graph, { seed: 3 });
    const events = await follow(id);
    expect(events.map(({ cursor }) => cursor)).toEqual(events.map((_, index) => index + 1));
    expect([events[0]!.type, events.at(-1)!.type]).toEqual(['execution_start', 'execution_complete']);
    const run = await detail(id);
    expect(run).toMatchObject({
      status: 'succeeded',
      error: null,
      devices: ['cpu'],
      queue_key: 'cpu',
      options: { seed: 3, device: 'cpu', provenance: false },
      execution_facts: { fingerprint_source: 'control-plane', runtime: { kind: 'onnx' } },
    });
    expect(run.fingerprint_digest).toMatch(/^[0-9a-f]{64}$/);
    expect(run.final_metrics.length).toBeGreaterThan(0);
  });

  it('records where the code of each node comes from when it is asked to', async () => {
    const id = await submit(graphOf('Give'), { provenance: true });
    await follow(id);
    const store = server.server.app.get<RunStore>(RUN_STORE);
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
    const given = { type: 'Give', definition_hash: hash, source: 'custom', file: 'Give.js', file_hash: hash };
    expect(await store.provenance(id)).toEqual([
      { node_id: 'after', ...given },
      { node_id: 'node', ...given },
      { node_id: 'start', type: 'Start', definition_hash: hash, source: 'builtin', file: null, file_hash: null },
    ]);
  });

  it('refuses a graph that cannot run, with every problem', async () => {
    const answer = await server.post('/api/runs', { graph: graphOf('Nothing') });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      detail: { code: 'invalid_graph', details: { issues: [{ code: 'unknown_node_type', node_id: 'node' }] } },
    });
  });

  it('keeps a secret out of everything that it stores', async () => {
    const id = await submit(graphOf('Tell', { key: 'hush-hush' }));
    await follow(id);
    expect(await detail(id)).toMatchObject({ status: 'succeeded', final_metrics: [{ value: 9 }, { value: 1 }] });
    expect((await server.get(`/api/runs/${id}/log`)).text).not.toContain('hush-hush');
    expect((await server.post(`/api/runs/${id}/retry`, undefined)).status).toBe(409);
    await server.server.app.close();
    for (const name of ['codefyui.db', 'codefyui.db-wal']) {
      const file = join(folder, 'data', name);
      if (existsSync(file)) expect(readFileSync(file).includes('hush-hush')).toBe(false);
    }
    server = await start();
  });

  it('stops a run that was asked to, and runs it again', async () => {
    const id = await submit(graphOf('Patient'));
    await follow(id, ({ payload }) => payload?.['node_id'] === 'node');
    expect((await server.post(`/api/runs/${id}/cancel`, undefined)).json).toMatchObject({ cancelled: true });
    const events = await follow(id);
    expect(events.at(-1)).toMatchObject({ type: 'execution_stopped', payload: { reason: 'cancelled' } });
    const again = ((await server.post(`/api/runs/${id}/retry`, undefined)).json as RunSubmitted).run_id;
    await follow(again, ({ payload }) => payload?.['node_id'] === 'node');
    expect(await detail(again)).toMatchObject({ status: 'running', retry_of: id });
  });

  it('ends what runs and what waits when it stops, in order and for good', async () => {
    const ids = [];
    for (let index = 0; index < 4; index++) ids.push(await submit(graphOf('Patient')));
    await follow(ids[0]!, ({ payload }) => payload?.['node_id'] === 'node');
    await server.server.app.close();
    server = await start();
    const { runs } = (await server.get('/api/runs?order=asc')).json as RunList;
    expect(runs.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 'interrupted']));
    for (const run of runs) {
      expect(run.execution_facts).toMatchObject({ error_reason: { code: 'server_stopped' } });
      expect((await follow(run.id)).at(-1)).toMatchObject({
        type: 'execution_stopped',
        payload: { reason: 'interrupted' },
      });
    }
  });
});

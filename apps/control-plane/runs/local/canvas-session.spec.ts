import type { RunStore } from '@cdui/execution';
import type { GraphFile, RunEventsPage, RunEventView } from '@cdui/protocol';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestServer } from '../../testing/test-server';
import { RUN_STORE } from '../../tokens';
import type { CanvasSession } from '../runs';
import { CanvasSessions } from '../runs';

/** Custom nodes of these tests, by what their `execute` does. */
const NODES = {
  Give: `return { value: params.int('amount') };`,
  Patient: `while (!context.cancelled) await new Promise((go) => setTimeout(go, 5)); return { value: 1 };`,
};

function writeNodes(folder: string): void {
  const target = join(folder, 'data/custom_nodes');
  mkdirSync(target, { recursive: true });
  for (const [name, body] of Object.entries(NODES)) {
    writeFileSync(
      join(target, `${name}.js`),
      `module.exports = (sdk) => ({
        name: '${name}', category: 'Test', description: '', inputs: { in: 'ANY?' }, outputs: { value: 'ANY' },
        params: { amount: sdk.param.int(0) }, cacheable: ${name === 'Give'},
        async execute(context, inputs, params) { ${body} },
      });\n`,
    );
  }
}

function graphOf(type: string, amount = 0): Pick<GraphFile, 'nodes' | 'edges'> {
  const data = { params: { amount } };
  return {
    nodes: [
      { id: 'start', type: 'Start' },
      { id: 'first', type, data },
      { id: 'second', type: 'Give' },
    ],
    edges: [
      { source: 'start', sourceHandle: 'trigger', target: 'first', type: 'trigger' },
      { source: 'first', sourceHandle: 'value', target: 'second', targetHandle: 'in' },
    ],
  };
}

describe('a canvas session', () => {
  let server: TestServer;
  let session: CanvasSession;

  beforeEach(async () => {
    server = await TestServer.start({}, writeNodes);
    session = server.server.app.get(CanvasSessions).open();
  });

  afterEach(() => server.close());

  async function eventsOf(id: string, until?: (event: RunEventView) => boolean): Promise<readonly RunEventView[]> {
    const events: RunEventView[] = [];
    for (;;) {
      const path = `/api/runs/${id}/events?cursor=${events.at(-1)?.cursor ?? 0}&wait=20`;
      const page = (await server.get(path)).json as RunEventsPage;
      events.push(...page.events);
      if ((until && page.events.some(until)) || (!page.active && page.events.length === 0)) return events;
    }
  }

  /** How each node came to its end. */
  async function statuses(request: object): Promise<Readonly<Record<string, unknown>>> {
    const { run_id: id } = await session.execute(request);
    const ends = (await eventsOf(id)).filter(
      ({ type, payload }) => type === 'node_status' && payload?.['status'] !== 'running',
    );
    return Object.fromEntries(ends.map(({ payload }) => [payload?.['node_id'], payload?.['status']]));
  }

  it('remembers results from run to run, until they are stale, or forgotten', async () => {
    expect(await statuses(graphOf('Give', 1))).toMatchObject({ first: 'completed', second: 'completed' });
    expect(await statuses(graphOf('Give', 1))).toMatchObject({ first: 'cached', second: 'cached' });
    expect(await statuses(graphOf('Give', 2))).toMatchObject({ first: 'completed', second: 'completed' });
    expect(await statuses({ ...graphOf('Give', 2), changed_nodes: ['second'] })).toMatchObject({
      first: 'cached',
      second: 'completed',
    });
    session.clearCache();
    expect(await statuses(graphOf('Give', 2))).toMatchObject({ first: 'completed', second: 'completed' });
    const other = server.server.app.get(CanvasSessions).open();
    const { run_id: id } = await other.execute(graphOf('Give', 2));
    expect((await eventsOf(id)).some(({ payload }) => payload?.['status'] === 'cached')).toBe(false);
    await other.close();
  });

  it('runs one graph at a time, on the lane of the canvas, with the options of its message', async () => {
    const request = {
      ...graphOf('Patient'),
      action: 'execute',
      verbose_mode: true,
      graph_id: 'g',
      error_mode: 'continue',
    };
    const answer = await session.execute(request);
    expect(answer.status).toBe('running');
    await expect(session.execute(graphOf('Give'))).rejects.toMatchObject({
      code: 'interactive_limit',
      params: { run_id: answer.run_id },
    });
    const record = await server.server.app.get<RunStore>(RUN_STORE).get(answer.run_id);
    expect(record).toMatchObject({
      lane: 'interactive',
      options: { lane: 'interactive', verbose: true, graph_id: 'g', error_mode: 'continue' },
    });
    await eventsOf(answer.run_id, ({ payload }) => payload?.['node_id'] === 'first');
    await server.post(`/api/runs/${answer.run_id}/cancel`, undefined);
    expect((await eventsOf(answer.run_id)).at(-1)).toMatchObject({ payload: { reason: 'cancelled' } });
    expect(await statuses(graphOf('Give'))).toMatchObject({ second: 'completed' });
  });

  it('ends nothing when its socket closes: the host goes when the run is over', async () => {
    const { run_id: id } = await session.execute(graphOf('Patient'));
    await eventsOf(id, ({ payload }) => payload?.['node_id'] === 'first');
    let closed = false;
    const closing = session.close().then(() => (closed = true));
    await expect(session.execute(graphOf('Give'))).rejects.toMatchObject({ code: 'session_closed' });
    expect((await server.get(`/api/runs/${id}`)).json).toMatchObject({ status: 'running' });
    expect(closed).toBe(false);
    await server.post(`/api/runs/${id}/cancel`, undefined);
    await closing;
    expect((await server.get(`/api/runs/${id}`)).json).toMatchObject({ status: 'cancelled' });
  });
});

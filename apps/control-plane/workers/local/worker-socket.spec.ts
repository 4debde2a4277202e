import { times } from '../../../../testing/long';
import type { RunEventsPage, RunRow, WorkerList, WorkerRow } from '@cdui/protocol';
import { hostileFrame } from '@cdui/protocol/worker/testing/hostile-frames';
import fc from 'fast-check';
import { graphOf, writeCustomNodes } from '../../testing/custom-nodes';
import { helloOf, ScriptedAgent } from '../../testing/scripted-agent';
import { SocketClient } from '../../testing/socket-client';
import { TestServer } from '../../testing/test-server';

let server: TestServer;
const agents: ScriptedAgent[] = [];
let names = 0;

beforeAll(async () => {
  server = await TestServer.start({}, (folder) => writeCustomNodes(folder, { Give: 'return { value: 1 };' }));
});
afterEach(() => agents.splice(0).forEach((agent) => agent.close()));
afterAll(() => server.close());

const newName = (): string => `worker-${++names}`;

async function connect(
  name = newName(),
  runs: Parameters<typeof ScriptedAgent.connect>[2] = [],
): Promise<ScriptedAgent> {
  const agent = await ScriptedAgent.connect(server, name, runs);
  agents.push(agent);
  return agent;
}

async function dial(): Promise<ScriptedAgent> {
  const agent = await ScriptedAgent.dial(server);
  agents.push(agent);
  return agent;
}

async function submit(worker: string, options: object = {}): Promise<string> {
  const { status, json } = await server.send('POST', '/api/runs', {
    body: { graph: graphOf('Give'), options: { target: { worker }, ...options } },
  });
  expect({ status, json }).toMatchObject({ status: 200 });
  return (json as { run_id: string }).run_id;
}

const row = async (id: string): Promise<RunRow> => (await server.get(`/api/runs/${id}`)).json as RunRow;
const worker = async (name: string): Promise<WorkerRow> => (await server.get(`/api/workers/${name}`)).json as WorkerRow;

async function until<T>(look: () => Promise<T>, fits: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const ended = (id: string): Promise<RunRow> =>
  until(
    () => row(id),
    ({ active }) => !active,
  );

async function eventsOf(id: string): Promise<readonly (readonly [string, unknown])[]> {
  const page = (await server.get(`/api/runs/${id}/events?limit=2000`)).json as RunEventsPage;
  return page.events.map(({ type, payload }) => [type, payload] as const);
}

/** Nesting that no text can be made of is left to the texts above. */
function textOf(frame: unknown): string {
  try {
    return JSON.stringify(frame) ?? 'undefined';
  } catch {
    return '{"type":';
  }
}

const STARTED = { visible_devices: null, device_aliases: {} };
const OUTCOME = { error: null, reason: null, failed_nodes: [], skipped_nodes: [], peak_memory: [], seconds: 1 };
const finishedAs = (status: string): object => ({ outcome: { status, ...OUTCOME } });
const said = (detail: string): object => ({ at_ms: 1, warning: { kind: 'said', detail } });

describe('who may connect', () => {
  it.each([
    ['another host', { host: 'evil.example' }, 403, 4003],
    ['a page, even of this server', { origin: 'http://127.0.0.1' }, 403, 4003],
    ['no credential', { 'x-codefyui-token': '' }, 401, 4401],
    ['another credential', { 'x-codefyui-token': 'wrong' }, 401, 4401],
  ])('is settled before the upgrade: %s', async (_, headers, status, code) => {
    const refusal = await SocketClient.refused(ScriptedAgent.url(server), {
      'x-codefyui-token': server.token,
      ...headers,
    });
    expect(refusal).toEqual({ status, json: { code, detail: expect.any(String) as string } });
  });

  it('may show the token in the query', async () => {
    expect(await SocketClient.refused(`${ScriptedAgent.url(server)}?token=no`)).toMatchObject({ status: 401 });
  });
});

describe('hello', () => {
  it.each([
    ['invalid_name', { name: 'GPU Box' }],
    ['reserved_name', { name: 'any' }],
    ['protocol_mismatch', { protocol_version: 2 }],
    ['version_mismatch', { version: '0.0.1' }],
    ['one_shot_unsupported', { one_shot: true }],
  ])('is rejected with %s, and the reason is kept', async (code, changes) => {
    const agent = await dial();
    const hello = helloOf(newName(), changes);
    agent.say(hello);
    expect(await agent.of('reject')).toMatchObject({ code, reason: expect.any(String) as string });
    expect(await agent.closed).toBe(4400);
    const list = (await server.get('/api/workers')).json as WorkerList;
    expect(list.rejected).toContainEqual(expect.objectContaining({ name: hello.name, code }));
  });

  it('comes first, and once under one name', async () => {
    const early = await dial();
    early.say({ type: 'run_alive', runs: [] });
    expect(await early.closed).toBe(4422);
    const agent = await connect();
    agent.say(helloOf(newName()));
    expect(await agent.closed).toBe(4422);
  });

  it('may come again with other facts', async () => {
    const name = newName();
    const agent = await connect(name);
    agent.say(helloOf(name, { devices: [] }));
    await until(
      () => worker(name),
      ({ devices }) => devices.length === 0,
    );
    expect(agent.frames.filter(({ type }) => type === 'welcome')).toHaveLength(1);
  });

  it('of a second connection takes the place of the first, whose close changes nothing', async () => {
    const name = newName();
    const first = await connect(name);
    await connect(name);
    expect(await first.closed).toBe(4409);
    expect(
      await until(
        () => worker(name),
        ({ status }) => status === 'online',
      ),
    ).toMatchObject({ name });
  });
});

describe('messages', () => {
  it.each([
    ['no JSON', '{'],
    ['a number', '1'],
    ['no type', '{}'],
    ['nesting beyond reason', '['.repeat(100_000)],
    ['a frame that is none', '{"type":"heartbeat","devices":1,"running":[]}'],
  ])('that are %s close the socket with the reason', async (_, text) => {
    const agent = await connect();
    agent.socket.send(text);
    expect(await agent.closed).toBe(4422);
  });

  it('in binary, too large, or larger than a hello may be, close it', async () => {
    const [binary, large, hello] = [await connect(), await connect(), await dial()];
    binary.socket.send(Buffer.from('{}'));
    expect(await binary.closed).toBe(1003);
    large.socket.send(`"${'x'.repeat(8 * 1024 * 1024)}"`);
    expect(await large.closed).toBe(1009);
    hello.say(
      helloOf(newName(), { mounts: Array.from({ length: 200 }, () => 'x'.repeat(510)), platform: 'y'.repeat(512) }),
    );
    hello.socket.send(`"${'x'.repeat(1024 * 1024)}"`);
    await hello.of('welcome');
    const late = await dial();
    late.socket.send(`{"type":"hello","name":"${'x'.repeat(1024 * 1024)}"}`);
    expect(await late.closed).toBe(4422);
  });

  it('of unknown types are ignored', async () => {
    const name = newName();
    const agent = await connect(name);
    agent.say({ type: 'tomorrow', of: ['any', 'kind'] });
    agent.say({ type: 'heartbeat', devices: [], running: [], tomorrow: 1 });
    await until(
      () => worker(name),
      ({ devices }) => devices.length === 0,
    );
  });
});

describe('a run on a worker', () => {
  it('is assigned, reports into its log, and ends as the worker says', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name, { device: 'cuda' });
    const assign = await agent.of('assign');
    expect(assign).toMatchObject({ run_id: id, attempt: 1, device: 'cuda:0', devices: ['cuda:0'] });
    expect(await row(id)).toMatchObject({
      status: 'running',
      worker_id: name,
      queue_key: `${name}/cuda`,
      devices: ['cuda:0'],
    });
    expect((await worker(name)).devices.map(({ device, slots }) => [device, slots.used])).toEqual([
      ['cpu', 0],
      ['cuda:0', 1],
    ]);
    agent.report(assign, 1, 'run_started', { visible_devices: '0', device_aliases: { 'cuda:0': 'cuda:0' } });
    agent.report(assign, 2, 'metrics', { at_ms: 5, points: [{ name: 'loss', value: 1, step: 1, node_id: 'a' }] });
    agent.report(assign, 3, 'artifact', { at_ms: 6, artifact: { kind: 'model', path: '/m', meta: {}, node_id: 'a' } });
    agent.report(assign, 4, 'run_facts', { facts: { runtime: 'fake', fingerprint: { node: 'v20', own: true } } });
    agent.report(assign, 4, 'warning', said('twice'));
    agent.report(assign, 5, 'warning', said('once'));
    agent.report(assign, 6, 'run_finished', finishedAs('succeeded'));
    const run = await ended(id);
    expect(run).toMatchObject({
      status: 'succeeded',
      execution_facts: {
        runtime: 'fake',
        visible_devices: '0',
        fingerprint_source: 'worker-run',
        worker_resume: { worker: name, attempt: 1, seq: 6, slots: [{ worker: name, device: 'cuda:0' }] },
      },
    });
    expect(await eventsOf(id)).toMatchObject([
      ['execution_start', { run_id: id }],
      ['metric', {}],
      ['artifact', { path: '/m' }],
      ['run_warning', { detail: 'once' }],
      ['execution_complete', null],
    ]);
    expect(await agent.of('ack', 0, ({ seq }) => seq === 6)).toMatchObject({ run_id: id, attempt: 1 });
    expect((await worker(name)).running).toEqual([]);
  });

  it('is stamped with the times of its own clock, however late they come', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name);
    const assign = await agent.of('assign');
    const begun = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 250));
    agent.report(assign, 1, 'run_started', { ...STARTED, after_ms: 100 });
    agent.report(assign, 2, 'warning', { at_ms: 20, warning: { kind: 'said', detail: 'a' } });
    agent.report(assign, 3, 'warning', { at_ms: 120, warning: { kind: 'said', detail: 'b' } });
    agent.report(assign, 4, 'warning', { at_ms: 100_000, warning: { kind: 'said', detail: 'c' } });
    agent.report(assign, 5, 'run_finished', finishedAs('succeeded'));
    await ended(id);
    const { events } = (await server.get(`/api/runs/${id}/events`)).json as RunEventsPage;
    const times = events.map(({ ts }) => Date.parse(ts));
    expect([times[1]! - times[0]!, times[2]! - times[0]!]).toEqual([20, 120]);
    expect(Math.abs(times[0]! - begun - 100)).toBeLessThan(60);
    expect(times[3]).toBeLessThanOrEqual(Date.now());
    expect((await row(id)).execution_facts).toMatchObject({ began_at: times[0] });
  });

  it('is cancelled there', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name);
    const assign = await agent.of('assign');
    agent.report(assign, 1, 'run_started', STARTED);
    await until(
      () => eventsOf(id),
      (events) => events.length > 0,
    );
    await server.send('POST', `/api/runs/${id}/cancel`);
    expect(await agent.of('cancel')).toMatchObject({ run_id: id, attempt: 1, grace_s: 30 });
    agent.report(assign, 2, 'run_finished', finishedAs('cancelled'));
    expect(await ended(id)).toMatchObject({ status: 'cancelled' });
  });

  it('goes on when the connection is lost, and reports again from where it was', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name);
    const assign = await agent.of('assign');
    agent.report(assign, 1, 'run_started', STARTED);
    agent.report(assign, 2, 'warning', said('first'));
    await until(
      () => eventsOf(id),
      (events) => events.length === 2,
    );
    agent.close();
    await until(
      () => row(id),
      ({ status }) => status === 'disconnected',
    );
    expect(await worker(name)).toMatchObject({ status: 'disconnected', running: [id] });
    const again = await connect(name, [{ run_id: id, attempt: 1, last_seq: 3 }]);
    again.report(assign, 2, 'warning', said('first'));
    again.report(assign, 3, 'warning', said('second'));
    again.report(assign, 4, 'run_finished', finishedAs('succeeded'));
    expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    const told = (await eventsOf(id)).map(([type, payload]) => {
      const { kind, detail } = (payload ?? {}) as { kind?: string; detail?: string };
      return kind === 'said' ? detail : (kind ?? type);
    });
    expect(told).toEqual([
      'execution_start',
      'first',
      'worker_disconnected',
      'worker_reconnected',
      'second',
      'execution_complete',
    ]);
  });

  it('that had not begun returns to the queue, in front, under a new attempt', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name, { device: 'cuda' });
    await agent.of('assign');
    const second = await submit(name, { device: 'cuda' });
    agent.close();
    const waiting = await until(
      () => row(id),
      ({ queue_reason_code: code }) => code === 'worker_offline',
    );
    expect(waiting).toMatchObject({ status: 'queued', queue_position: 1, worker_id: null, devices: null });
    const again = await connect(name);
    expect(await again.of('assign')).toMatchObject({ run_id: id, attempt: 2 });
    expect(await row(second)).toMatchObject({ status: 'queued', queue_position: 1 });
  });

  it('that the worker does not have any more is lost at once', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name);
    agent.report(await agent.of('assign'), 1, 'run_started', STARTED);
    await until(
      () => eventsOf(id),
      (events) => events.length === 1,
    );
    agent.close();
    await connect(name);
    expect(await ended(id)).toMatchObject({
      status: 'interrupted',
      execution_facts: { error_reason: { code: 'run_lost' } },
    });
  });

  it('is another’s business when a worker speaks of it: refused, and told once', async () => {
    const [mine, other] = [newName(), newName()];
    const agent = await connect(mine);
    const stranger = await connect(other);
    const id = await submit(mine);
    const assign = await agent.of('assign');
    agent.report(assign, 1, 'run_started', STARTED);
    stranger.report(assign, 2, 'warning', said('forged'));
    stranger.report(assign, 3, 'warning', said('forged'));
    expect(await stranger.of('cancel')).toMatchObject({ run_id: id, attempt: 1, grace_s: 0 });
    stranger.report(assign, 4, 'run_finished', finishedAs('failed'));
    await stranger.of('ack');
    expect(stranger.frames.filter(({ type }) => type === 'cancel')).toHaveLength(1);
    agent.report(assign, 2, 'run_finished', finishedAs('succeeded'));
    expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    expect((await eventsOf(id)).map(([type]) => type)).toEqual(['execution_start', 'execution_complete']);
  });

  it('ends when its worker reports what nobody understands, and the connection stays', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name);
    const assign = await agent.of('assign');
    agent.report(assign, 1, 'run_started', STARTED);
    agent.report(assign, 2, 'metrics', { at_ms: 1, points: 7 });
    expect(await agent.of('cancel')).toMatchObject({ run_id: id, grace_s: 0 });
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      execution_facts: { error_reason: { code: 'worker_frame_invalid' } },
    });
    // It may have been the last that the agent keeps.
    await agent.of('ack', 0, ({ seq }) => seq === 2);
    agent.report(assign, 3, 'run_finished', finishedAs('cancelled'));
    await agent.of('ack', 0, ({ seq }) => seq === 3);
    expect(await worker(name)).toMatchObject({ status: 'online' });
  });

  it('shows what it prints, wherever the connection was lost', async () => {
    const name = newName();
    const agent = await connect(name);
    const id = await submit(name);
    const assign = await agent.of('assign');
    agent.report(assign, 1, 'run_started', STARTED);
    expect(await agent.of('want_console')).toMatchObject({ run_id: id, offset: 0 });
    const print = (from: ScriptedAgent, offset: number, text: string): void =>
      from.say({ type: 'console', run_id: id, attempt: 1, offset, bytes: Buffer.byteLength(text), text });
    print(agent, 0, 'one ');
    await until(
      async () => (await server.get(`/api/runs/${id}/log`)).text,
      (text) => text === 'one ',
    );
    agent.close();
    const again = await connect(name, [{ run_id: id, attempt: 1, last_seq: 1 }]);
    expect(await again.of('want_console')).toMatchObject({ run_id: id, offset: 4 });
    print(again, 0, 'one ');
    print(again, 4, 'two');
    again.report(assign, 2, 'run_finished', finishedAs('succeeded'));
    await ended(id);
    expect((await server.get(`/api/runs/${id}/log`)).text).toBe('one two');
  });
});

describe('what can never run is refused at once', () => {
  it.each([
    ['worker_unknown', { target: { worker: 'nobody' } }],
    ['device_not_offered', { target: { worker: 'refusing', devices: ['cuda:7'] } }],
    ['device_not_offered', { device: 'mps', target: { worker: 'refusing' } }],
    ['worker_lacks_feature', { record_outputs: true, target: { worker: 'refusing' } }],
    ['worker_missing_types', { target: { worker: 'poor' } }],
    ['device_not_offered', { target: { worker: 'any', devices: ['cuda:0', 'cuda:7'] } }],
    ['device_not_offered', { device: 'mps', target: { worker: 'any' } }],
  ])('%s: %j', async (code, options) => {
    await connect('refusing');
    const poor = await dial();
    poor.say(helloOf('poor', { catalog_hash: 'x', node_type_hashes: { Start: 'x' } }));
    await poor.of('welcome');
    const answer = await server.send('POST', '/api/runs', { body: { graph: graphOf('Give'), options } });
    expect(answer).toMatchObject({ status: 400, json: { detail: { code } } });
  });
});

describe('the list of workers', () => {
  it('shows differences of the catalogue, and a history', async () => {
    const name = newName();
    const agent = await dial();
    agent.say(helloOf(name, { catalog_hash: 'x', node_type_hashes: { Start: 'x', Own: 'y' } }));
    await agent.of('welcome');
    const shown = await worker(name);
    expect(shown).toMatchObject({ degraded: true, extra_types: ['Own'], changed_types: ['Start'] });
    expect(shown.missing_types).toContain('Give');
    expect((await server.get(`/api/workers/${name}/history`)).json).toMatchObject({
      id: name,
      devices: [
        { device: 'cpu', samples: [{ free_bytes: 50, utilization: 5 }] },
        { device: 'cuda:0', samples: [{ free_bytes: 50, utilization: null }] },
      ],
    });
    expect((await server.get('/api/workers/nobody')).status).toBe(404);
  });

  it('shows at once that an agent drains of its own accord: what comes waits, and is told why', async () => {
    const name = newName();
    const agent = await connect(name);
    agent.say({ type: 'heartbeat', devices: helloOf(name).devices, running: [], draining: true });
    await until(
      () => worker(name),
      ({ draining }) => draining,
    );
    const id = await submit(name);
    expect(await row(id)).toMatchObject({ status: 'queued', queue_reason_code: 'worker_draining' });
    agent.close();
    await until(
      () => row(id),
      ({ queue_reason_code: code }) => code === 'worker_offline',
    );
  });

  it('is watched over the socket of the canvas', async () => {
    const client = await SocketClient.open(server);
    client.ask('watch', { topics: ['workers'] });
    await client.of('watching');
    const name = newName();
    await connect(name);
    expect(await client.frame(({ type, id }) => type === 'worker_changed' && id === name)).toMatchObject({ id: name });
    client.close();
  });
});

describe('whatever an agent sends, in every state of its connection', () => {
  it(
    'the server goes on, and other workers are undisturbed',
    async () => {
      const calm = newName();
      await connect(calm);
      const before = process.memoryUsage().rss;
      const states = ['dialled', 'welcomed', 'assigned'] as const;
      let state = 0;
      let agent: ScriptedAgent | null = null;
      let open = false;
      const ready = async (): Promise<ScriptedAgent> => {
        if (agent && open) return agent;
        const which = states[state++ % states.length]!;
        const name = newName();
        agent = which === 'dialled' ? await dial() : await connect(name);
        if (which === 'assigned') {
          const id = await submit(name);
          await agent.of('assign', 0, ({ run_id: runId }) => runId === id);
        }
        open = true;
        void agent.closed.then(() => (open = false));
        return agent;
      };
      const batch = 250;
      for (let sent = 0; sent < times(3_000, 1_000_000); sent += batch) {
        for (const frame of fc.sample(hostileFrame, { numRuns: batch, seed: sent })) {
          (await ready()).socket.send(textOf(frame));
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      expect(await worker(calm)).toMatchObject({ status: 'online' });
      expect((await server.get('/api/health')).status).toBe(200);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    },
    times(180_000, 7_200_000),
  );
});

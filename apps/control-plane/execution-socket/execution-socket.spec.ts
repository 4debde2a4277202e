import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import type { RunEventsPage } from '@cdui/protocol';
import { graphOf, writeCustomNodes } from '../testing/custom-nodes';
import { type Frame, SocketClient } from '../testing/socket-client';
import { TestServer } from '../testing/test-server';
import { EventLog } from '../events/event-log';
import { WrittenRun } from '../testing/written-run';
import { ExecutionSocket } from './execution-socket';

const FRAME_LIMIT = 64 * 1024;
const NODES = {
  Give: `return { value: 1 };`,
  Patient: `while (!context.cancelled) await new Promise((go) => setTimeout(go, 5)); return { value: 1 };`,
};

let server: TestServer;
const clients: SocketClient[] = [];

beforeAll(async () => {
  server = await TestServer.start({ CODEFYUI_WS_MAX_MESSAGE_BYTES: String(FRAME_LIMIT) }, (folder) =>
    writeCustomNodes(folder, NODES),
  );
});
afterEach(() => clients.splice(0).forEach((client) => client.close()));
afterAll(() => server.close());

async function open(): Promise<SocketClient> {
  const client = await SocketClient.open(server);
  clients.push(client);
  return client;
}

let runs = 0;
const written = (): Promise<WrittenRun> => WrittenRun.begin(server, (++runs).toString(16).padStart(32, '0'));

const url = (): string => `${server.url.replace('http', 'ws')}/ws/execution?token=${server.token}`;
const cursors = (events: readonly Frame[]): readonly unknown[] => events.map(({ cursor }) => cursor);
const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The stored events as the REST interface gives them, flattened as frames are. */
async function stored(runId: string): Promise<readonly unknown[]> {
  const events: unknown[] = [];
  for (let cursor = 0; ;) {
    const page = (await server.get(`/api/runs/${runId}/events?cursor=${cursor}&limit=2000`)).json as RunEventsPage;
    if (page.events.length === 0) return events;
    events.push(
      ...page.events.map(({ type, cursor: at, payload }) => ({ type, run_id: runId, cursor: at, ...payload })),
    );
    cursor = page.cursor;
  }
}

describe('who may open a socket', () => {
  it('is settled before the upgrade for foreign pages and hosts', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { host: 'evil.example' },
    ];
    for (const headers of foreign) {
      expect(await SocketClient.refused(url(), headers)).toEqual({
        status: 403,
        json: { code: 4003, detail: expect.any(String) as string },
      });
    }
    const { host } = new URL(server.url);
    clients.push(await SocketClient.open(server, `?token=${server.token}`, { origin: `http://${host}` }));
  });

  it('is told by the close code when the token is wrong, and nothing it says is read', async () => {
    for (const query of ['', '?token=wrong', '?token=']) {
      const client = await SocketClient.open(server, query);
      client.ask('watch', { topics: 'runs' });
      expect([await client.closed, client.frames]).toEqual([4401, []]);
    }
  });

  it('may show the token in a header', async () => {
    const client = await SocketClient.open(server, '', { 'x-codefyui-token': server.token });
    client.ask('detach');
    expect(await client.of('detached')).toEqual({ type: 'detached', run_id: null });
    client.close();
  });

  it('finds none at other paths', async () => {
    expect(await SocketClient.refused(`${server.url.replace('http', 'ws')}/ws/nowhere`)).toMatchObject({ status: 404 });
  });
});

describe('messages', () => {
  it.each([
    ['no JSON', '{', 'invalid_message'],
    ['a list', '[]', 'invalid_message'],
    ['nesting beyond reason', `${'['.repeat(300)}${']'.repeat(300)}`, 'invalid_message'],
    ['a prototype', '{"action":"detach","__proto__":{"a":1}}', 'invalid_message'],
    ['no action', '{}', 'unknown_action'],
    ['an unknown action', '{"action":"__proto__"}', 'unknown_action'],
    ['no run', '{"action":"attach"}', 'invalid_message'],
    ['a wrong cursor', '{"action":"attach","run_id":"a","cursor":-1}', 'invalid_message'],
    ['a wrong topic', '{"action":"watch","topics":["runs","weather"]}', 'invalid_message'],
    ['a run that is not there', '{"action":"attach","run_id":"nope"}', 'run_not_found'],
    ['a cancel of one', '{"action":"cancel","run_id":"nope"}', 'run_not_found'],
  ])('with %s are answered with an error, and the socket stays', async (_, text, code) => {
    const client = await open();
    client.socket.send(text);
    expect(await client.of('error')).toMatchObject({ code, error: expect.any(String) as string });
    client.ask('cancel');
    expect(await client.of('execution_stopped')).toEqual({ type: 'execution_stopped', reason: 'not_running' });
  });

  it('in binary are refused', async () => {
    const client = await open();
    client.socket.send(Buffer.from('{"action":"detach"}'));
    expect(await client.of('error')).toMatchObject({ code: 'invalid_message' });
  });

  it('that are too large close the socket with 1009', async () => {
    const client = await open();
    client.socket.send('x'.repeat(FRAME_LIMIT + 1));
    expect(await client.closed).toBe(1009);
  });

  it('are met in their order, however fast they come', async () => {
    const client = await open();
    for (let index = 0; index < 50; index++) client.ask(index % 2 === 0 ? 'detach' : 'clear_cache');
    await client.frame(() => client.frames.length === 50);
    expect(client.frames.map(({ type }) => type)).toEqual(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 'detached' : 'cache_cleared')),
    );
  });
});

describe('execute', () => {
  it('runs a graph and sends each stored event once, in order', async () => {
    const client = await open();
    const example = JSON.parse(
      readFileSync(join(programRoot(), 'examples/layers-backward.graph.json'), 'utf8'),
    ) as object;
    client.ask('execute', { ...example, seed: 1 });
    const { run_id: runId } = await client.of('attached');
    await client.of('execution_complete');
    expect(client.events).toEqual(await stored(String(runId)));
    expect(cursors(client.events)).toEqual(upTo(client.events.length));
    expect(client.events[0]).toEqual({ type: 'execution_start', run_id: runId, cursor: 1 });
  });

  it('is refused for a bad graph, and for a second run of the session', async () => {
    const client = await open();
    client.ask('execute', { nodes: [{ id: 'a', type: 'NoSuchNode' }], edges: [] });
    expect(await client.of('execution_error')).toMatchObject({ rejected: true, error: expect.any(String) as string });
    client.ask('execute', graphOf('Patient'));
    await client.of('execution_start');
    const from = client.frames.length;
    client.ask('execute', graphOf('Give'));
    expect(await client.of('execution_error', from)).toMatchObject({ rejected: true, code: 'interactive_limit' });
    client.ask('stop');
    expect(await client.of('cancel_ack', from)).toMatchObject({ cancelled: true });
    expect(await client.of('execution_stopped', from)).toMatchObject({ reason: 'cancelled' });
  });

  it('goes on when its socket closes, and another one follows it', async () => {
    const first = await open();
    first.ask('execute', graphOf('Patient'));
    const { run_id: runId, cursor } = await first.of('execution_start');
    first.close();
    await first.closed;
    const second = await open();
    second.ask('attach', { run_id: runId, cursor });
    expect(await second.of('attached')).toEqual({ type: 'attached', run_id: runId, cursor, status: 'running' });
    second.ask('cancel');
    await second.of('execution_stopped');
    expect(cursors(second.events)[0]).toBe(2);
    expect(second.events).toEqual((await stored(String(runId))).slice(1));
  });
});

describe('following', () => {
  it('gives several sockets the same events, from where each wants them', async () => {
    const run = await written();
    const [early, late] = [await open(), await open()];
    early.ask('attach', { run_id: run.id });
    await run.texts(100, 10);
    await server.server.app.get(EventLog).flush();
    late.ask('attach', { run_id: run.id, cursor: 50 });
    await run.texts(100, 10);
    await run.end();
    await Promise.all([early.of('execution_complete'), late.of('execution_complete')]);
    expect(cursors(early.events)).toEqual(upTo(202));
    expect(cursors(late.events)).toEqual(upTo(202, 51));
    expect(early.events).toEqual(await stored(run.id));
  });

  it('goes over to another run at once, and stops when asked to', async () => {
    const [one, two] = [await written(), await written()];
    const client = await open();
    client.ask('attach', { run_id: one.id });
    await client.of('execution_start');
    client.ask('attach', { run_id: two.id });
    await client.frame(({ type, run_id }) => type === 'execution_start' && run_id === two.id);
    client.ask('detach');
    expect(await client.of('detached')).toEqual({ type: 'detached', run_id: two.id });
    await one.texts(5, 10);
    await two.texts(5, 10);
    client.ask('cancel');
    await client.of('execution_stopped');
    expect(client.events).toHaveLength(2);
  });

  it('refuses a cursor that no event has yet, and says which is the newest', async () => {
    const run = await written();
    await run.texts(2, 10);
    await run.end();
    const client = await open();
    client.ask('attach', { run_id: run.id, cursor: 1_000 });
    expect(await client.of('error')).toMatchObject({
      code: 'cursor_beyond_newest',
      params: { cursor: 1_000, newest: 4 },
    });
    client.ask('attach', { run_id: run.id, cursor: 4 });
    expect(await client.of('attached')).toMatchObject({ cursor: 4, status: 'succeeded' });
  });

  it('says so when the run is deleted', async () => {
    const run = await written();
    await run.end();
    const client = await open();
    client.ask('attach', { run_id: run.id });
    await client.of('attached');
    expect((await server.send('DELETE', `/api/runs/${run.id}`)).status).toBe(200);
    client.ask('attach', { run_id: run.id });
    expect(await client.of('error')).toMatchObject({ code: 'run_not_found' });
  });

  it('costs one page of memory when a client does not read, while others are served, and that one misses nothing', async () => {
    const sockets = server.server.app.get(ExecutionSocket);
    const run = await written();
    const [fast, stuck] = [await open(), await open()];
    stuck.ask('attach', { run_id: run.id });
    await stuck.of('execution_start');
    stuck.socket.pause();
    fast.ask('attach', { run_id: run.id });
    let most = 0;
    fast.socket.on('message', () => (most = Math.max(most, sockets.bufferedBytes)));
    // Far more than the system buffers for a socket.
    const events = 20_000;
    await run.texts(events, 1_000);
    await run.end();
    await fast.of('execution_complete');
    expect(cursors(fast.events)).toEqual(upTo(events + 2));
    expect(stuck.events.length).toBeLessThan(events / 2);
    expect(most).toBeLessThan(1024 * 1024);
    stuck.socket.resume();
    await stuck.of('execution_complete');
    expect(cursors(stuck.events)).toEqual(upTo(events + 2));
  });
});

it('tells a watching socket which runs change, until it no longer wants to know', async () => {
  const client = await open();
  client.ask('watch', { topics: ['runs'] });
  expect(await client.of('watching')).toEqual({ type: 'watching', topics: ['runs'] });
  const { run_id: id } = (await server.post('/api/runs', { graph: graphOf('Give') })).json as { run_id: string };
  const seen = await client.frame((frame) => frame.type === 'run_changed' && frame['id'] === id);
  expect(seen['rev']).toEqual(expect.any(Number));
  client.ask('unwatch', { topics: 'runs' });
  await client.frame(({ type, topics }) => type === 'watching' && Array.isArray(topics) && topics.length === 0);
});

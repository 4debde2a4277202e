import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import type { RunArtifacts, RunDetail, RunEventsPage, RunList, RunMetrics, RunSubmitted } from '@cdui/protocol';
import { ConsoleLogs } from '../events/console-logs';
import { EventLog } from '../events/event-log';
import { graphOf, writeCustomNodes } from '../testing/custom-nodes';
import { type Answer, TestServer } from '../testing/test-server';
import { WrittenRun } from '../testing/written-run';

const RESPONSE_CAP = 4096;
const NODES = {
  Give: `context.log('hello from ' + context.nodeId); return { value: 1 };`,
  Patient: `while (!context.cancelled) await new Promise((go) => setTimeout(go, 5)); return { value: 1 };`,
};

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start(
    { CODEFYUI_RUN_EVENTS_RESPONSE_CAP_BYTES: String(RESPONSE_CAP), CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_CPU: '1' },
    (folder) => writeCustomNodes(folder, NODES),
  );
});
afterAll(() => server.close());

let written = 0;
const begin = (): Promise<WrittenRun> => WrittenRun.begin(server, (++written).toString(16).padStart(32, 'a'));

const codeOf = ({ json }: Answer): unknown => {
  const { detail } = json as { detail: { code?: string } | { type: string }[] | string };
  return Array.isArray(detail) ? detail[0]!.type : typeof detail === 'string' ? detail : detail.code;
};

async function submit(type: string, options = {}): Promise<string> {
  const answer = await server.post('/api/runs', { graph: graphOf(type), options });
  expect(answer).toMatchObject({ status: 200, json: { run_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string } });
  return (answer.json as RunSubmitted).run_id;
}

async function ended(id: string): Promise<RunDetail> {
  for (let cursor = 0; ;) {
    const page = (await server.get(`/api/runs/${id}/events?cursor=${cursor}&wait=30`)).json as RunEventsPage;
    cursor = page.cursor;
    if (!page.active && page.events.length === 0) return (await server.get(`/api/runs/${id}`)).json as RunDetail;
  }
}

describe('a run', () => {
  it('keeps who waits for an event that is far away waiting until it ends', async () => {
    const run = await WrittenRun.begin(server, 'e'.repeat(32));
    const answer = server.get(`/api/runs/${run.id}/events?cursor=1000&wait=30`);
    for (let round = 0; round < 3; round++) {
      await run.texts(1, 10);
      await server.server.app.get(EventLog).flush();
      await server.get(`/api/runs/${run.id}/events?cursor=0`);
    }
    await run.end();
    expect((await answer).json).toMatchObject({ active: false, status: 'succeeded', events: [] });
  });

  it('is submitted, followed to its end, listed, and shown with its graph', async () => {
    const id = await submit('Give', { seed: 7 });
    const run = await ended(id);
    expect(run).toMatchObject({ id, name: 'Give', status: 'succeeded', active: false, options: { seed: 7 } });
    expect(run.graph).toEqual(graphOf('Give'));
    const { runs, total } = (await server.get(`/api/runs?status=succeeded&status=failed&q=${id.slice(0, 8)}`))
      .json as RunList;
    expect([runs.map((row) => row.id), total]).toEqual([[id], 1]);
    expect(runs[0]).not.toHaveProperty('graph');
    expect((await server.get(`/api/runs/${id}/log`)).text).toContain('hello from node');
  });

  it('waits its turn, is cancelled, retried and deleted', async () => {
    const [first, second] = [await submit('Patient'), await submit('Patient')];
    expect((await server.get(`/api/runs/${second}`)).json).toMatchObject({ status: 'queued', queue_position: 1 });
    const third = await submit('Patient', { priority: -1 });
    expect((await server.post(`/api/runs/${third}/move`, { before: second })).json).toEqual({
      run_id: third,
      queue_position: 1,
    });
    expect((await server.get(`/api/runs/${second}`)).json).toMatchObject({ queue_position: 2 });
    const fixed = await server.post(`/api/runs/${first}/move`, { before: 1 });
    expect([fixed.status, codeOf(fixed)]).toEqual([409, 'run_not_waiting']);
    expect((await server.post(`/api/runs/${third}/move`, { to: 1 })).status).toBe(422);
    const nobody = await server.post(`/api/runs/${'f'.repeat(32)}/move`, { before: 1 });
    expect([nobody.status, codeOf(nobody)]).toEqual([404, 'run_not_found']);
    await server.post(`/api/runs/${third}/cancel`, undefined);
    expect((await server.post(`/api/runs/${second}/cancel`, undefined)).json).toEqual({
      run_id: second,
      status: 'cancelled',
      cancelled: true,
    });
    expect((await server.post(`/api/runs/${second}/cancel`, undefined)).json).toMatchObject({ cancelled: false });
    const busy = await server.send('DELETE', `/api/runs/${first}`);
    expect([busy.status, codeOf(busy)]).toEqual([409, 'run_active']);
    await server.post(`/api/runs/${first}/cancel`, undefined);
    expect(await ended(first)).toMatchObject({ status: 'cancelled' });
    const again = (await server.post(`/api/runs/${second}/retry`, undefined)).json as RunSubmitted;
    expect((await server.get(`/api/runs/${again.run_id}`)).json).toMatchObject({ retry_of: second });
    await server.post(`/api/runs/${again.run_id}/cancel`, undefined);
    await ended(again.run_id);
    expect((await server.send('DELETE', `/api/runs/${first}`)).json).toEqual({ run_id: first, deleted: true });
    expect((await server.get(`/api/runs/${first}`)).status).toBe(404);
  });

  it.each([
    ['', 'GET'],
    ['/events', 'GET'],
    ['/metrics', 'GET'],
    ['/artifacts', 'GET'],
    ['/artifacts/x/download', 'GET'],
    ['/log', 'GET'],
    ['/log/search?q=x', 'GET'],
    ['/cancel', 'POST'],
    ['/retry', 'POST'],
    ['', 'DELETE'],
  ])('that is not there is a 404 at %s (%s)', async (path, method) => {
    const answer = await server.send(method, `/api/runs/${'f'.repeat(32)}${path}`);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'run_not_found']);
  });

  it.each([
    ['/api/runs?limit=0', 'limit'],
    ['/api/runs?limit=501', 'limit'],
    ['/api/runs?offset=-1', 'offset'],
    ['/api/runs?status=done', 'status'],
    ['/api/runs?sort=graph', 'sort'],
    ['/api/runs/x/events?cursor=1.5', 'cursor'],
    ['/api/runs/x/events?wait=61', 'wait'],
    ['/api/runs/x/events?limit=many', 'limit'],
    ['/api/runs/x/metrics?format=xml', 'format'],
    ['/api/runs/x/log?limit=0', 'limit'],
    ['/api/runs/x/log/search', 'q'],
  ])('is not asked for with %s', async (path, field) => {
    const answer = await server.get(path);
    expect([answer.status, (answer.json as { detail: { loc: string[] }[] }).detail[0]!.loc]).toEqual([
      422,
      ['query', field],
    ]);
  });

  it('says of a parameter that is missing that it is missing, and of a list that is not there as well', async () => {
    const search = await server.get('/api/runs/x/log/search');
    expect((search.json as { detail: { msg: string }[] }).detail.map(({ msg }) => msg)).toEqual([
      'q must be the text to look for, of 1 to 200 characters (it is missing)',
    ]);
    const run = await server.post('/api/runs', { graph: {} });
    expect((run.json as { detail: { msg: string }[] }).detail.map(({ msg }) => msg)).toEqual([
      '"graph.nodes" must be a list; it is missing',
    ]);
  });

  it.each([
    ['cursor=abc', '"abc"'],
    ['cursor=1e3', '"1e3"'],
    ['cursor=', '""'],
    ['cursor=%201', '" 1"'],
    ['cursor=-1', '"-1"'],
    ['cursor[]=1', '"1"'],
    ['cursor=1&cursor=2', '["1","2"]'],
    ['cursor=9007199254740993', '9007199254740992'],
  ])('is not asked for with %s, and hears so once', async (query, given) => {
    const answer = await server.get(`/api/runs/x/events?${query}`);
    expect(answer).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ['query', 'cursor'], msg: expect.stringContaining(`(it is ${given})`) as string }] },
    });
    expect((answer.json as { detail: unknown[] }).detail).toHaveLength(1);
  });

  it.each([
    [{ graph: { nodes: [], edges: [] } }, 422],
    [{ graph: graphOf('Give'), options: { sed: 1 } }, 400],
    [{ graph: graphOf('Give'), options: { target: { worker: 'gpu-1' } } }, 400],
    [{ graph: graphOf('NoSuchNode') }, 400],
  ])('is refused as %j', async (body, status) => {
    expect((await server.post('/api/runs', body)).status).toBe(status);
  });
});

describe('events', () => {
  it('come in pages of bounded count and size, each once and in order', async () => {
    const run = await begin();
    await run.texts(200, 100);
    await run.end();
    const few = (await server.get(`/api/runs/${run.id}/events?limit=3`)).json as RunEventsPage;
    expect([few.events.length, few.cursor]).toEqual([3, 3]);
    const seen: number[] = [];
    for (let cursor = 0; ;) {
      const { bytes, json } = await server.get(`/api/runs/${run.id}/events?cursor=${cursor}&limit=2000`);
      const page = json as RunEventsPage;
      if (page.events.length === 0) break;
      // The cap counts payloads; each event has a line around its own.
      expect(bytes.length).toBeLessThan(RESPONSE_CAP * 2);
      seen.push(...page.events.map((event) => event.cursor));
      cursor = page.cursor;
    }
    expect(seen).toEqual(Array.from({ length: 202 }, (_, index) => index + 1));
  });

  it('that are larger than the cap come alone', async () => {
    const run = await begin();
    await run.texts(3, RESPONSE_CAP * 2);
    await run.end();
    const page = (await server.get(`/api/runs/${run.id}/events?cursor=1`)).json as RunEventsPage;
    expect(page.events.map(({ cursor }) => cursor)).toEqual([2]);
  });

  it('wake up a client that waits, and one that waits for the end', async () => {
    const run = await begin();
    const next = server.get(`/api/runs/${run.id}/events?cursor=1&wait=30`);
    await run.texts(1, 5);
    expect((await next).json).toMatchObject({ active: true, events: [{ cursor: 2, type: 'node_status' }] });
    const last = server.get(`/api/runs/${run.id}/events?cursor=2&wait=30`);
    await run.end();
    expect((await last).json).toMatchObject({ events: [{ cursor: 3, type: 'execution_complete', payload: null }] });
    expect((await server.get(`/api/runs/${run.id}/events?cursor=3&wait=30`)).json).toMatchObject({
      active: false,
      events: [],
      cursor: 3,
    });
  });

  it('are no longer waited for when the client is gone', async () => {
    const run = await begin();
    await new Promise<void>((resolve) => {
      const outgoing = httpRequest(`${server.url}/api/runs/${run.id}/events?cursor=1&wait=60`);
      outgoing.on('error', () => resolve());
      outgoing.end(() => outgoing.destroy());
    });
    await run.end();
  });
});

describe('metrics', () => {
  it('are given as JSON and as a CSV file, one name only when asked', async () => {
    const run = await begin();
    const points = Array.from({ length: 12_000 }, (_, step) => ({
      node_id: 't',
      name: step % 2 ? 'loss' : '=evil',
      value: step / 4,
      step,
    }));
    for (let from = 0; from < points.length; from += 100) {
      if (!run.recorder.recordMetrics(points.slice(from, from + 100), from)) await run.recorder.drained();
    }
    await run.end();
    const all = (await server.get(`/api/runs/${run.id}/metrics`)).json as RunMetrics;
    expect(all.names).toEqual(['=evil', 'loss']);
    expect(all.metrics.map(({ step }) => step)).toEqual(points.map(({ step }) => step));
    const one = (await server.get(`/api/runs/${run.id}/metrics?name=loss`)).json as RunMetrics;
    expect([one.names, one.metrics.length]).toEqual([['loss'], 6000]);
    const csv = await server.get(`/api/runs/${run.id}/metrics?format=csv`);
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="run-${run.id}-metrics.csv"`,
    });
    expect([...csv.bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const lines = csv.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(12_001);
    expect(lines[0]).toBe('\ufeffrun_id,node_id,name,step,value,ts');
    expect(lines[1]).toMatch(new RegExp(`^${run.id},t,'=evil,0,0,\\d{4}-`));
  });
});

describe('artifacts', () => {
  async function withFile(path: string, content: string): Promise<string> {
    const run = await begin();
    mkdirSync(join(server.folder, 'data/models'), { recursive: true });
    if (content !== '') writeFileSync(path, content);
    run.recorder.recordArtifact({ kind: 'model', path, meta: { bytes: content.length }, node_id: 'save' }, 1);
    await run.end();
    const { artifacts } = (await server.get(`/api/runs/${run.id}/artifacts?kind=model`)).json as RunArtifacts;
    expect(artifacts).toMatchObject([{ path, kind: 'model', node_id: 'save', backend: 'local', mount_label: null }]);
    return `/api/runs/${run.id}/artifacts/${artifacts[0]!.id}/download`;
  }

  it('are downloaded whole and in parts, with the token only', async () => {
    const path = await withFile(join(server.folder, 'data/models/weights.safetensors'), '0123456789');
    const whole = await server.get(path);
    expect([whole.status, whole.text]).toEqual([200, '0123456789']);
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="weights.safetensors"',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    });
    const part = await server.get(path, { headers: { range: 'bytes=2-4' } });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, '234', 'bytes 2-4/10']);
    const beyond = await server.get(path, { headers: { range: 'bytes=10-' } });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */10']);
    expect((await server.get(path, { headers: { 'if-match': '"other"' } })).status).toBe(412);
    expect((await server.get(path, { token: false })).status).toBe(403);
    expect((await server.get(`${path}?token=wrong`, { token: false })).status).toBe(403);
    expect((await server.get(`${path}?token=${server.token}`, { token: false })).text).toBe('0123456789');
  });

  it('are never files from elsewhere', async () => {
    const link = join(server.folder, 'data/models/link');
    const secret = join(server.folder, 'session.token');
    mkdirSync(join(server.folder, 'data/models'), { recursive: true });
    symlinkSync(secret, link);
    const database = join(server.folder, 'data/codefyui.db');
    for (const path of [
      link,
      secret,
      database,
      '/etc/passwd',
      join(server.folder, 'data/models/../../session.token'),
      server.folder,
    ]) {
      const answer = await server.get(await withFile(path, ''));
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 404, 'artifact_gone']);
      expect(answer.text).not.toContain(server.token);
    }
  });

  it('that are not there are a 404', async () => {
    const gone = await server.get(await withFile(join(server.folder, 'data/models/gone'), ''));
    expect([gone.status, codeOf(gone)]).toEqual([404, 'artifact_gone']);
    const run = await begin();
    await run.end();
    const unknown = await server.get(`/api/runs/${run.id}/artifacts/..%2F..%2Fsession.token/download`);
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'artifact_not_found']);
  });
});

describe('the console log', () => {
  const text = 'first line\nsecond line, ä\nthird\n';
  let run: WrittenRun;
  beforeAll(async () => {
    run = await begin();
    run.recorder.console(text);
    await run.end();
    await server.server.app.get(ConsoleLogs).close(run.id);
  });

  it('is read from an offset, and says where it stands', async () => {
    const { status, text: part, headers } = await server.get(`/api/runs/${run.id}/log?offset=6&limit=4`);
    expect([status, part]).toEqual([200, 'line']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-log-offset': '6',
      'x-log-next': '10',
      'x-log-size': String(Buffer.byteLength(text)),
      'x-run-status': 'succeeded',
      'x-run-active': 'false',
    });
    expect((await server.get(`/api/runs/${run.id}/log?offset=1000&wait=30`)).text).toBe('');
  });

  it('answers ranges of bytes', async () => {
    const size = Buffer.byteLength(text);
    for (const [range, status, part, contentRange] of [
      ['bytes=0-4', 206, 'first', `bytes 0-4/${size}`],
      ['bytes=-6', 206, 'third\n', `bytes ${size - 6}-${size - 1}/${size}`],
      [`bytes=${size}-`, 416, '', `bytes */${size}`],
      ['lines=1-2', 200, text, undefined],
    ] as const) {
      const answer = await server.get(`/api/runs/${run.id}/log`, { headers: { range } });
      expect([answer.status, answer.text, answer.headers['content-range']]).toEqual([status, part, contentRange]);
    }
  });

  it('is searched', async () => {
    expect((await server.get(`/api/runs/${run.id}/log/search?q=LINE&limit=1`)).json).toEqual({
      run_id: run.id,
      matches: [{ offset: 0, line: 1, text: 'first line' }],
      truncated: true,
    });
  });

  it('wakes up a client that waits for more', async () => {
    const busy = await begin();
    const more = server.get(`/api/runs/${busy.id}/log?wait=30`);
    busy.recorder.console('now');
    expect((await more).text).toBe('now');
    await busy.end();
  });
});

describe('the body of a submission', () => {
  const deep = `${'['.repeat(201)}${']'.repeat(201)}`;
  const graph = JSON.stringify(graphOf('Give'));
  const bodies: Readonly<Record<string, string | Buffer>> = {
    nothing: '',
    'no JSON': '{"graph": ',
    'no UTF-8': Buffer.from([0x22, 0xff, 0x22]),
    'too deep': `{"graph": ${deep}}`,
    'a prototype': `{"graph": {"nodes": [{"id": "a", "type": "Start", "data": {"__proto__": {}}}], "edges": []}}`,
    'a prototype in disguise': `{"graph": {"nodes": [{"\\u005f_proto__": 1}]}}`,
    'a list': '[]',
    null: 'null',
    'an unknown field': `{"graph": ${graph}, "extra": 1}`,
    'no nodes': '{"graph": {"nodes": [], "edges": []}}',
    'an unknown option': `{"graph": ${graph}, "options": {"sed": 1}}`,
    'a bad option': `{"graph": ${graph}, "options": {"seed": -1}}`,
    'a bad target': `{"graph": ${graph}, "options": {"target": {"devices": ["cuda:9"]}}}`,
    'a long name': `{"graph": ${graph}, "name": "${'x'.repeat(65)}"}`,
    'no edges': '{"graph": {"nodes": [{"id": "a", "type": "Start"}]}}',
    'an unknown type': '{"graph": {"nodes": [{"id": "a", "type": "Nope"}], "edges": []}}',
    'bad settings': `{"graph": ${graph.slice(0, -1)}, "settings": {"device": 5}}}`,
  };

  // Another spelling of the path has its body read before it comes to the route.
  it.each(Object.keys(bodies))('is refused in the same words, read early or late: %s', async (name) => {
    const headers = { 'content-type': 'application/json' };
    const [late, early] = await Promise.all(
      ['/api/runs', '/api/Runs'].map((path) => server.send('POST', path, { raw: bodies[name]!, headers })),
    );
    expect([late!.status, late!.text]).toEqual([early!.status, early!.text]);
    expect([400, 422]).toContain(late!.status);
  });

  it('is accepted whole: its graph comes back as it was sent', async () => {
    const sent = { ...graphOf('Give'), name: 'Größe \u{1F600}', settings: { seed: 3, unknown: { kept: true } } };
    for (const path of ['/api/runs', '/api/Runs']) {
      const { run_id: id } = (await server.post(path, { graph: sent })).json as RunSubmitted;
      const run = await ended(id);
      expect([run.graph, run.name, run.status, run.options['seed']]).toEqual([sent, sent.name, 'succeeded', null]);
    }
  });
});

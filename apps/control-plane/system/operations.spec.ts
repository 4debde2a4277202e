import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunDetail, RunSubmitted } from '@cdui/protocol';
import { WebSocket } from 'ws';
import { graphOf, writeCustomNodes } from '../testing/custom-nodes';
import { ServerProcess } from '../testing/server-process';

const NODES = {
  Give: `return { value: 1 };`,
  Fail: `throw new Error('it failed on ' + params.text('key'));`,
  Patient: `while (!context.cancelled) await new Promise((go) => setTimeout(go, 5)); return { value: 1 };`,
};

let server: ServerProcess;
const start = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
  server = await ServerProcess.start(env, (folder) => writeCustomNodes(folder, NODES));
};
afterEach(() => server.remove());

async function submit(type: string, params = {}): Promise<string> {
  const answer = await server.fetch('/api/runs', { method: 'POST', body: { graph: graphOf(type, params) } });
  return ((await answer.json()) as RunSubmitted).run_id;
}

async function until(id: string, fits: (run: RunDetail) => boolean): Promise<RunDetail> {
  for (let cursor = 0; ;) {
    const run = (await (await server.fetch(`/api/runs/${id}`)).json()) as RunDetail;
    if (fits(run)) return run;
    const page = (await (await server.fetch(`/api/runs/${id}/events?cursor=${cursor}&wait=30`)).json()) as {
      cursor: number;
    };
    ({ cursor } = page);
  }
}

describe('the log of the server', () => {
  it.each(['false', 'true'])(
    'names runs and requests, and never a token, a query or a secret (JSON: %s)',
    async (json) => {
      await start({ CODEFYUI_LOG_LEVEL: 'trace', CODEFYUI_LOG_JSON: json });
      const id = await submit('Fail', { key: 'canary-secret' });
      await until(id, ({ active }) => !active);
      await server.fetch(`/api/runs/${id}/cancel?token=canary-query`, { method: 'POST' });
      await server.fetch(`/api/nowhere?token=canary-query`);
      await server.fetch(`/api/runs/x/artifacts/y/download?token=canary-query`);
      await server.fetch('/api/runs?limit=canary-query');
      await server.fetch('/api/runs', {
        method: 'POST',
        body: { name: 5 },
        headers: { authorization: 'Bearer canary-header' },
      });
      await server.fetch('/api/runs', { method: 'POST', headers: { 'x-codefyui-token': 'canary-token' } });
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws/execution?token=${server.token}`);
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send('{"action": "canary-query"}');
      await new Promise((resolve) => socket.once('message', resolve));
      socket.close();
      await server.prints(new RegExp(`${id}/cancel`));
      const { token } = server;
      server.signal('SIGTERM');
      expect(await server.ended).toEqual({ code: 0, signal: null });
      expect(server.output).toContain(id);
      expect(server.output).not.toContain(token);
      expect(server.output).not.toMatch(/canary/);
      if (json === 'true') {
        const lines = server.output.split('\n').filter((line) => line.startsWith('{'));
        const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
        const requests = entries.filter(({ msg }) => msg === 'request');
        const life = entries.filter(({ msg, run_id }) => msg === 'run' && run_id === id);
        expect(life.map(({ context, status }) => [context, status])).toEqual(
          ['queued', 'running', 'failed'].map((status) => ['runs', status]),
        );
        expect(requests).toContainEqual(
          expect.objectContaining({
            level: 30,
            context: 'http',
            method: 'POST',
            path: `/api/runs/${id}/cancel`,
            status: 200,
            run_id: id,
          }),
        );
        expect(requests).toContainEqual(
          expect.objectContaining({ method: 'POST', path: '/api/runs', status: 200, run_id: id }),
        );
        expect(requests).toContainEqual(expect.objectContaining({ method: 'POST', path: '/api/runs', status: 403 }));
      }
    },
  );

  it('warns of limits that are ignored, and of custom node files that cannot be used, at the start and when they change', async () => {
    server = await ServerProcess.start({ CODEFYUI_RUN_QUEUE_MAX_CONCURRENT: 'cpu=2,nonsense' }, (folder) => {
      writeCustomNodes(folder, NODES);
      writeFileSync(join(folder, 'data/custom_nodes/bad.js'), 'module.exports = (;');
    });
    await server.prints(/CODEFYUI_RUN_QUEUE_MAX_CONCURRENT: "nonsense" is ignored/);
    await server.prints(/Custom node file bad\.js cannot be used/);
    expect(await (await server.fetch('/api/health')).json()).toMatchObject({ broken_nodes: 1 });
    writeFileSync(join(server.folder, 'data/custom_nodes/worse.js'), 'module.exports = 5;');
    await server.prints(/Custom node file worse\.js cannot be used/);
    expect(server.output).not.toContain('"cpu=2" is ignored');
  });

  it('is written to whoever reads it, and needs nobody', async () => {
    await start();
    // The reader of a pipeline goes away.
    server.hangUp();
    for (let index = 0; index < 5; index++) expect((await server.fetch('/api/nowhere')).status).toBe(404);
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });
});

describe('figures for Prometheus', () => {
  it('follow runs from the queue to their end', async () => {
    await start({ CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_CPU: '1' });
    const done = await submit('Give');
    await until(done, ({ active }) => !active);
    const busy = await submit('Patient');
    await until(busy, ({ status }) => status === 'running');
    const waiting = await submit('Give');
    const answer = await server.fetch('/metrics');
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain;.*version=0\.0\.4/);
    expect(text).toContain('codefyui_queue_depth{queue_key="cpu"} 1\n');
    expect(text).toContain('codefyui_runs{status="succeeded"} 1\n');
    expect(text).toContain('codefyui_runs{status="running"} 1\n');
    expect(text).toContain('codefyui_runs_active 2\n');
    expect(text).toMatch(/codefyui_events_total [1-9]/);
    expect(text).toMatch(/codefyui_commit_seconds_count [1-9]/);
    expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds \d/);
    expect(text).toContain('codefyui_execution_sockets 0\n');
    expect(text).not.toContain(waiting);
  });
});

describe('a disk that is full', () => {
  const namespace = ['unshare', '--user', '--map-root-user', '--mount'];
  const mayMount = spawnSync(namespace[0]!, [...namespace.slice(1), 'true']).status === 0;

  (mayMount ? it : it.skip)('makes the server not ready, until a write succeeds again', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'cdui-disk-'));
    const mounted = ['sh', '-c', `mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"`, disk];
    server = await ServerProcess.start(
      { CODEFYUI_DB_PATH: join(disk, 'codefyui.db') },
      (folder) => writeCustomNodes(folder, NODES),
      [...namespace, ...mounted],
    );
    const ready = async (): Promise<number> => (await server.fetch('/api/health/ready')).status;
    // Of some size: what SQLite has room for already takes small ones.
    const submitted = (): Promise<Response> =>
      server.fetch('/api/runs', { method: 'POST', body: { graph: graphOf('Give', { key: 'x'.repeat(300_000) }) } });
    expect(await ready()).toBe(200);
    const ballast = server.seen(join(disk, 'ballast'));
    const fill = (): void => {
      for (;;) appendFileSync(ballast, Buffer.alloc(4096));
    };
    expect(fill).toThrow(/ENOSPC/);

    let answer = await submitted();
    for (let tries = 0; answer.ok && tries < 20; tries++) answer = await submitted();
    expect([answer.status, await answer.json()]).toMatchObject([503, { detail: { code: 'storage_failed' } }]);
    expect(await ready()).toBe(503);
    expect((await server.fetch('/api/health/live')).status).toBe(200);

    rmSync(ballast);
    expect((await submitted()).status).toBe(200);
    expect(await ready()).toBe(200);
    rmSync(disk, { recursive: true });
  });
});

describe('a stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s retires what waits, stops what runs, and ends with 0',
    async (signal) => {
      await start({ CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_CPU: '1' });
      const running = await submit('Patient');
      await until(running, ({ status }) => status === 'running');
      const waiting = await submit('Give');
      const polls = server.fetch(`/api/runs/${waiting}/events?cursor=0&wait=60`);
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws/execution?token=${server.token}`);
      const frames: { type: string }[] = [];
      socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as { type: string }));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(JSON.stringify({ action: 'attach', run_id: running }));
      await new Promise((resolve) => socket.once('message', resolve));
      server.signal(signal);
      expect((await polls).status).toBe(200);
      expect(await closed).toBe(1001);
      expect(frames.at(-1)).toMatchObject({ type: 'execution_stopped', reason: 'interrupted' });
      expect(await server.ended).toEqual({ code: 0, signal: null });
      for (const file of ['server.addr', 'server.pid']) expect(existsSync(join(server.folder, file))).toBe(false);
      expect(readdirSync(server.folder).filter((file) => file.startsWith('core'))).toEqual([]);
      const { folder } = server;
      const next = await ServerProcess.start({ CODEFYUI_USER_DATA_DIR: folder });
      for (const id of [running, waiting]) {
        const run = (await (await fetch(`${server.url}/api/runs/${id}`)).json()) as RunDetail;
        expect([run.status, run.active]).toEqual(['interrupted', false]);
      }
      await next.remove();
    },
  );
});

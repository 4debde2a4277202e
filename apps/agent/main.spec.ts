import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentFolder } from '@cdui/host/agent-files';
import type { RunEventsPage, RunRow, WorkerRow } from '@cdui/protocol';
import { times } from '../../testing/long';
import { graphOf, writeCustomNodes } from '../control-plane/testing/custom-nodes';
import { ServerProcess } from '../control-plane/testing/server-process';
import { AgentProcess } from './testing/agent-process';

const NODES = {
  Give: 'return { value: 1 };',
  Shout: `context.log('printed by the run'); return { value: 1 };`,
  // Goes on until it is asked to stop.
  Linger: `context.log('lingering'); while (!context.cancelled) await new Promise((next) => setTimeout(next, 5)); return { value: 1 };`,
  // Ends when a file comes into being.
  Await: `const { existsSync } = require('node:fs'); while (!existsSync(process.env.TEST_GATE)) await new Promise((next) => setTimeout(next, 5)); return { value: 1 };`,
  // Reports until it is stopped.
  Chatter: `let step = 0; while (!context.cancelled) { for (let i = 0; i < 50; i++) context.metric('value', i, step++); await new Promise((next) => setTimeout(next, 1)); } return { value: 1 };`,
};

let server: ServerProcess;
let gate: string;
const agents: AgentProcess[] = [];
beforeAll(async () => {
  server = await ServerProcess.start({ CODEFYUI_WORKER_HEARTBEAT_S: '1' }, (folder) => writeCustomNodes(folder, NODES));
  gate = join(server.folder, 'gate');
}, 60_000);
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.end();
  rmSync(gate, { force: true });
});
afterAll(() => server.remove());

function agentOf(name: string, ...args: readonly string[]): AgentProcess {
  const agent = new AgentProcess(server.folder, name, { args, env: { TEST_GATE: gate } });
  agents.push(agent);
  return agent;
}

async function connected(name: string): Promise<AgentProcess> {
  const agent = agentOf(name);
  await agent.prints(/Connected as worker/);
  return agent;
}

async function submit(type: string, worker: string): Promise<string> {
  const body = { graph: graphOf(type), options: { target: { worker } } };
  const response = await server.fetch('/api/runs', { method: 'POST', body });
  const json = (await response.json()) as { run_id: string };
  expect([response.status, json]).toEqual([200, json]);
  return json.run_id;
}

async function until<T>(look: () => Promise<T> | T, fits: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const row = async (id: string): Promise<RunRow> => (await (await server.fetch(`/api/runs/${id}`)).json()) as RunRow;
const worker = async (name: string): Promise<WorkerRow> =>
  (await (await server.fetch(`/api/workers/${name}`)).json()) as WorkerRow;
const ended = (id: string): Promise<RunRow> =>
  until(
    () => row(id),
    ({ active }) => !active,
  );
const log = async (id: string): Promise<string> => (await server.fetch(`/api/runs/${id}/log`)).text();
const events = async (id: string): Promise<readonly string[]> => {
  const page = (await (await server.fetch(`/api/runs/${id}/events?limit=2000`)).json()) as RunEventsPage;
  return page.events.map(({ type }) => type);
};

function serverPid(): number {
  return (JSON.parse(readFileSync(join(server.folder, 'server.addr'), 'utf8')) as { readonly pid: number }).pid;
}

/** Numbers of the sockets of a process on which something can connect. */
function listeningSockets(pid: number): readonly string[] {
  const own = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
  const listening = ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/${pid}/net/${family}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .flatMap((fields) => (fields[3] === '0A' ? (fields[9] ?? []) : [])),
  );
  return own.filter((inode) => listening.includes(inode));
}

describe('an agent', () => {
  it('connects, is the same machine with the same node types, executes a run, and keeps no runtime and no port', async () => {
    const agent = await connected('one');
    expect(await worker('one')).toMatchObject({ status: 'online', degraded: false, devices: [{ device: 'cpu' }] });
    const report = await until(
      () => agent.report,
      (now) => now?.connected === true,
    );
    expect(report).toMatchObject({ name: 'one', pid: agent.pid, running: [], devices: ['cpu'] });
    const id = await submit('Shout', 'one');
    expect(await ended(id)).toMatchObject({ status: 'succeeded', worker_id: 'one' });
    expect(await events(id)).toEqual(expect.arrayContaining(['execution_start', 'node_status', 'execution_complete']));
    expect(await log(id)).toContain('printed by the run');
    expect(agent.maps).not.toMatch(/onnxruntime|sqlite/);
    expect(listeningSockets(agent.pid)).toEqual([]);
    expect(listeningSockets(serverPid())).not.toEqual([]);
    // When everything is acknowledged only what the run printed is left.
    const folder = join(agent.folder, 'agent-runs', id);
    await until(
      () => readdirSync(folder),
      (names) => !names.includes('spool.jsonl'),
    );
    expect(existsSync(join(folder, 'output.log'))).toBe(true);
    agent.kill('SIGTERM');
    expect(await agent.ended).toEqual({ code: 0, signal: null });
    expect(agent.report).toBeNull();
  });

  it('ends its runs when it is stopped, with their reason', async () => {
    const agent = await connected('two');
    const id = await submit('Linger', 'two');
    await until(
      () => log(id),
      (text) => text.includes('lingering'),
    );
    agent.kill('SIGTERM');
    expect(await agent.ended).toEqual({ code: 0, signal: null });
    expect(await ended(id)).toMatchObject({
      status: 'interrupted',
      error: expect.stringContaining('was stopped') as string,
    });
  });

  it('waits for its runs when it is drained, with heartbeats, and takes no others', async () => {
    const agent = await connected('three');
    const id = await submit('Await', 'three');
    await until(
      () => agent.report,
      (report) => report?.running.length === 1,
    );
    agent.kill('SIGUSR2');
    await until(
      () => agent.report,
      (report) => report?.draining === true,
    );
    const seen = (await worker('three')).last_seen_at;
    await until(
      () => worker('three'),
      ({ last_seen_at }) => last_seen_at !== seen,
    );
    writeFileSync(gate, '');
    expect(await agent.ended).toEqual({ code: 0, signal: null });
    expect(await ended(id)).toMatchObject({ status: 'succeeded' });
  });

  it('that is killed loses its runs, and the next one says so at once', async () => {
    const agent = await connected('four');
    const id = await submit('Linger', 'four');
    await until(
      () => log(id),
      (text) => text.includes('lingering'),
    );
    agent.kill('SIGKILL');
    await agent.ended;
    await connected('four');
    expect(await ended(id)).toMatchObject({
      status: 'interrupted',
      error: expect.stringContaining('was restarted') as string,
    });
    expect(await ended(await submit('Give', 'four'))).toMatchObject({ status: 'succeeded' });
  });

  it('that is frozen loses its connection, not its runs', async () => {
    const agent = await connected('seven');
    const id = await submit('Await', 'seven');
    await until(
      () => agent.report,
      (report) => report?.running.length === 1,
    );
    agent.kill('SIGSTOP');
    await until(
      () => worker('seven'),
      ({ status }) => status !== 'online',
    );
    agent.kill('SIGCONT');
    await until(
      () => worker('seven'),
      ({ status }) => status === 'online',
    );
    writeFileSync(gate, '');
    expect(await ended(id)).toMatchObject({ status: 'succeeded' });
  });

  it('keeps nothing of the runs that it has executed', async () => {
    const agent = await connected('eight');
    const open = (): number => readdirSync(`/proc/${agent.pid}/fd`).length;
    expect(await ended(await submit('Give', 'eight'))).toMatchObject({ status: 'succeeded' });
    const before = open();
    for (let count = 0; count < times(10, 500); count++) {
      expect(await ended(await submit('Give', 'eight'))).toMatchObject({ status: 'succeeded' });
    }
    await until(open, (now) => now <= before);
    expect(readdirSync(join(agent.folder, 'agent-runs')).length).toBeLessThanOrEqual(51);
  }, 600_000);

  const mayMount = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;
  (mayMount ? it : it.skip)(
    'ends a run with a named reason when its disk is full, takes no others, and takes them when there is room',
    async () => {
      const folder = agentFolder(server.folder, 'nine');
      mkdirSync(folder, { recursive: true });
      // A small file system of the agent's own, in a namespace where it may mount one.
      const script = `mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"`;
      const through = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, folder];
      const agent = new AgentProcess(server.folder, 'nine', { env: { TEST_GATE: gate }, through });
      agents.push(agent);
      await agent.prints(/Connected as worker/);
      const id = await submit('Chatter', 'nine');
      await until(
        () => row(id),
        ({ started_at }) => started_at !== null,
      );
      // Nobody acknowledges anything for a while.
      const pid = serverPid();
      process.kill(pid, 'SIGSTOP');
      await agent.prints(/full/).finally(() => process.kill(pid, 'SIGCONT'));
      expect(await ended(id)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('The disk of the worker is full') as string,
      });
      await agent.prints(/There is room on the disk again/);
      expect(await ended(await submit('Give', 'nine'))).toMatchObject({ status: 'succeeded' });
    },
    120_000,
  );

  it('is refused where another of its name runs, and ends with 3 when the control plane will not have it', async () => {
    const first = await connected('five');
    const second = agentOf('five');
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect(second.output).toContain(`process ${first.pid}`);
    const reserved = agentOf('any');
    expect(await reserved.ended).toEqual({ code: 3, signal: null });
    expect(reserved.output).toContain('reserved');
  });

  it('ends with 2 on arguments that cannot be right, and with 1 on a device that is not there', async () => {
    for (const args of [['--one-shot'], ['--devices', 'gpu'], ['--name', 'A B']]) {
      expect(await agentOf('six', ...args).ended).toEqual({ code: 2, signal: null });
    }
    const missing = agentOf('six', '--devices', 'cuda:99');
    expect(await missing.ended).toEqual({ code: 1, signal: null });
    expect(missing.output).toContain('cuda:99');
  });
});

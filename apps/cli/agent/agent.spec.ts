import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '@cdui/host';
import { defaultAgentName } from '@cdui/host/agent-files';
import type { RunRow } from '@cdui/protocol';
import { plainStyle } from '../graph-run/style';
import { Workplace } from '../testing/cdui';
import { agentLines } from './agent-lines';

let place: Workplace;
beforeEach(() => (place = new Workplace()));
afterEach(async () => {
  await place.cdui('agent', 'stop');
  await place.remove();
});

const graph = {
  name: 'There',
  nodes: [
    { id: 's', type: 'Start' },
    { id: 't', type: 'TextInput' },
  ],
  edges: [{ source: 's', sourceHandle: 'trigger', target: 't', type: 'trigger' }],
};

interface Said {
  readonly name: string;
  readonly pid: number;
  readonly connected: boolean;
  readonly already_running: boolean;
}

it('cdui agent start, status, logs and stop: one worker, which executes what is sent to it', async () => {
  const name = defaultAgentName();
  await place.cdui('start');
  expect(await place.cdui('agent', 'status')).toMatchObject({
    code: 1,
    out: expect.stringContaining('cdui agent start') as string,
  });
  const started = await place.cdui('agent', 'start', '--json');
  expect(started).toMatchObject({ code: 0, err: '' });
  const agent = JSON.parse(started.out) as Said;
  expect(agent).toMatchObject({ name, connected: true, already_running: false });
  const again = await place.cdui('agent', 'start');
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('was running already') as string });

  const run = await place.cdui('run', '--json', '--worker', name, place.file('g.json', graph));
  expect(JSON.parse(run.out)).toMatchObject({ status: 'succeeded' });

  const status = await place.cdui('agent', 'status');
  expect(status).toMatchObject({ code: 0, out: expect.stringMatching(/connected\n[^]*offers +cpu/) as string });
  const listed = JSON.parse((await place.cdui('agent', 'status', '--json')).out) as { agents: readonly Said[] };
  expect(listed.agents).toMatchObject([{ name, pid: agent.pid, connected: true }]);

  const following = place.spawn('agent', 'logs', '-f', '-n', '1000');
  await following.said('Connected as worker');
  const stopped = await place.cdui('agent', 'stop');
  expect(stopped).toMatchObject({ code: 0, out: expect.stringMatching(/stopped after/) as string });
  expect(isAlive(agent.pid)).toBe(false);
  await following.said('Stopped');
  following.child.kill();
  expect(await place.cdui('agent', 'stop')).toMatchObject({
    code: 0,
    out: expect.stringContaining('is running') as string,
  });
});

it('an agent is there before its server, says what it waits for, and connects when there is one', async () => {
  const alone = await place.cdui('agent', 'start');
  expect(alone).toMatchObject({ code: 0, out: expect.stringMatching(/no connection yet: .*goes on trying/) as string });
  expect((await place.cdui('agent', 'status')).out).toMatch(/not connected\n[^]*because/);
  await place.cdui('start');
  const following = place.spawn('agent', 'logs', '-f');
  await following.said('Connected as worker');
  following.child.kill();
  const other = await place.cdui('agent', 'stop', '--name', 'other');
  expect(other).toMatchObject({ code: 0, out: expect.stringContaining(`there is ${defaultAgentName()}`) as string });
});

it('a run on a worker goes on while its server is killed and started again', async () => {
  const name = defaultAgentName();
  const gate = join(place.folder, 'gate');
  const nodes = join(place.data, 'data', 'custom_nodes');
  mkdirSync(nodes, { recursive: true });
  writeFileSync(
    join(nodes, 'wait.js'),
    `module.exports = (sdk) => ({ name: 'Gate', category: 'Test', description: '', inputs: { in: 'ANY?' }, outputs: { value: 'ANY' },
      async execute() {
        while (!require('node:fs').existsSync(${JSON.stringify(gate)})) await new Promise((next) => setTimeout(next, 5));
        return { value: 1 };
      } });`,
  );
  await place.cdui('start');
  await place.cdui('agent', 'start');
  const waiting = { ...graph, nodes: [graph.nodes[0], { id: 't', type: 'Gate' }] };
  const submitted = await place.cdui('run', '--detach', '--json', '--worker', name, place.file('g.json', waiting));
  const { run_id: id } = JSON.parse(submitted.out) as { run_id: string };
  const row = async (): Promise<RunRow> => JSON.parse((await place.cdui('runs', 'show', id, '--json')).out) as RunRow;
  while ((await row()).started_at === null);
  process.kill(place.address!.pid, 'SIGKILL');
  await place.cdui('start');
  writeFileSync(gate, '');
  let now = await row();
  while (now.active) now = await row();
  expect(now).toMatchObject({ status: 'succeeded', worker_id: name });
});

it('an agent that the server will not have says so and ends with 3, and bad arguments with 2', async () => {
  await place.cdui('start');
  const reserved = await place.cdui('agent', 'start', '--name', 'any');
  expect(reserved).toMatchObject({ code: 3, out: '', err: expect.stringContaining('reserved') as string });
  for (const args of [
    ['--token', 'x'],
    ['--name', 'Large'],
    ['--devices', 'gpu'],
    ['--control', 'nowhere'],
  ]) {
    expect({ args, code: (await place.cdui('agent', 'start', ...args)).code }).toEqual({ args, code: 2 });
  }
  const nothing = await place.cdui('agent', 'logs', '--name', 'never');
  expect(nothing).toMatchObject({ code: 1, err: expect.stringContaining('never') as string });
});

it('names the command for the very agent, whatever else lies in the folder of agents', async () => {
  await place.cdui('start');
  const started = await place.cdui('agent', 'start', '--name', 'box');
  expect(started.out).toContain('"cdui agent stop --name box" stops it');
  writeFileSync(join(place.data, 'agents', '.DS_Store'), '');
  writeFileSync(join(place.data, 'agents', 'notes'), '');
  const again = await place.cdui('agent', 'start', '--name', 'box', '--devices', 'cpu', '--stop-after-silence', '60');
  expect(again.out).toContain('--stop-after-silence did not apply to one that runs already');
  const same = await place.cdui('agent', 'start', '--name', 'box', '--devices', 'cpu', '--json');
  expect(JSON.parse(same.out)).toMatchObject({ already_running: true, ignored: [] });
  const nobody = await place.cdui('agent', 'stop');
  expect(nobody).toMatchObject({ code: 1, out: expect.stringContaining('"cdui agent stop --name box"') as string });
  const logs = await place.cdui('agent', 'logs', '--name', 'box', '--json', '-n', '2');
  const lines = logs.out.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      time: expect.stringMatching(/Z$/) as string,
      level: 'info',
      message: expect.stringContaining('offers cpu') as string,
    },
    { level: 'info', message: 'Connected as worker box' },
  ]);
  const both = await place.cdui('agent', 'start', '-f', '--json');
  expect({ code: both.code, out: JSON.parse(both.out) as unknown }).toMatchObject({
    code: 2,
    out: { error: { code: 'conflicting_option' } },
  });
  expect(await place.cdui('agent', 'stop', '--name', 'box')).toMatchObject({ code: 0 });
});

it('stays in the terminal with --foreground, and ends with 130 on Ctrl+C', async () => {
  await place.cdui('start');
  const agent = place.spawn('agent', 'start', '-f', '--name', 'here');
  await agent.said('Connected as worker here');
  agent.child.kill('SIGINT');
  expect(await agent.ended).toBe(130);
});

const NOW = Date.parse('2026-01-01T12:00:00Z');
const REPORT = {
  ...{ name: 'box', pid: 7, version: '3.1.0', started_at: '2026-01-01T11:00:00Z' },
  ...{ control: null, stop_after_silence_s: null, worker_id: 'box' },
  ...{ connected: false, since: NOW - 5_000, reason: 'nobody listens there', running: ['0123456789abcdef'] },
  ...{ draining: false, stopping: false, refuses: null, devices: ['cpu', 'cuda:0'] },
};
const linesOf = (report: typeof REPORT): readonly string[] =>
  agentLines({ name: 'box', folder: '/home/me/a', pid: 7, started: null, report }, NOW, plainStyle);

it('tells an agent that drains from one that stops', () => {
  const draining = { ...REPORT, connected: true, draining: true };
  const first = [draining, { ...draining, stopping: true }].map((report) => linesOf(report)[0]);
  expect(first).toEqual(['box  draining', 'box  stopping']);
});

it('shows an agent in lines', () => {
  expect(linesOf(REPORT)).toEqual([
    'box  not connected',
    '  since     5s',
    '  because   nobody listens there',
    '  server    the one that has the folder',
    '  process   7, up 1h',
    '  version   3.1.0',
    '  offers    cpu, cuda:0',
    '  runs      01234567',
    '  folder    /home/me/a',
  ]);
});

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { entryPath, programRoot } from '@cdui/host/entry';
import { CollectingSinks } from '@cdui/execution/testing/collecting-sinks';
import type { GraphFile } from '@cdui/protocol';
import { InProcessExecutor } from '@cdui/run-host';
import { chain } from '@cdui/run-host/testing/workplace';
import { times } from '../../../testing/long';
import { readCookie } from './cookie-file';
import { AgentPlace } from './testing/agent-place';
import { CollectingOutlet } from './testing/collecting-outlet';

const EXAMPLES = join(programRoot(), 'examples');

/** Custom nodes of these tests, by what their `execute` does. */
const NODES = {
  Give: `return { value: params.int('amount') };`,
  Show: `
    const { readdirSync } = require('node:fs');
    const nice = require('node:os').getPriority(0);
    const own = Object.keys(process.env).filter((name) => name.startsWith('CODEFYUI_') || name.startsWith('CUDA_'));
    console.log(JSON.stringify({ nice, folder: process.cwd(), cards: process.env.CUDA_VISIBLE_DEVICES, order: process.env.CUDA_DEVICE_ORDER, own }));
    return { value: context.device };`,
  Shout: `
    process.stdout.write('out '); console.log('log'); console.error('error ' + params.text('key'));
    return { value: 1 };`,
  Poll: `console.log('polling');
    while (!context.cancelled);
    return { value: 1 };`,
  Spin: `console.log('spinning'); while (true);`,
  Stubborn: `process.on('SIGTERM', () => undefined); console.log('spinning'); while (true);`,
  Exit: `console.log('x'.repeat(6000) + ' Grüße'); process.exit(7);`,
  Die: `process.kill(process.pid, params.text('key') || 'SIGKILL'); await new Promise(() => undefined);`,
  Hoard: `for (let head = null; ; ) head = { head };`,
  Stray: `setTimeout(() => { throw new Error('stray ' + params.text('key')); }, 1);
    await new Promise(() => undefined);`,
  Large: `context.artifact('text', 'a.txt', { text: 'x'.repeat(params.int('amount')) }); return {};`,
  Flood: `
    for (let step = 0; step < params.int('amount'); step += 1) {
      context.progress({ event: 'batch', step });
      await context.drained();
    }
    return { value: process.memoryUsage().rss };`,
  Garbage: `context.progress({ event: 'config' }); require('node:fs').writeSync(3, Buffer.from([1, 0, 0, 0, 99])); await new Promise(() => undefined);`,
};

describe('a run in a process of its own', () => {
  let place: AgentPlace;
  beforeAll(() => {
    place = new AgentPlace(NODES);
  });
  afterAll(() => place.remove());

  it('reports what the same run reports in-process', async () => {
    const graph = JSON.parse(readFileSync(join(EXAMPLES, 'layers-backward.graph.json'), 'utf8')) as GraphFile;
    const { run, outlet } = place.launch(place.launcher(), graph, { options: { seed: 1 } });
    const executor = new InProcessExecutor();
    const sinks = new CollectingSinks();
    const outcome = await executor.run({
      kind: 'start',
      runId: 'r1',
      graph,
      options: { seed: 1 },
      placement: { worker: 'local', devices: ['cpu'], slots: [] },
      folders: place.folders,
      sinks,
      signal: new AbortController().signal,
    });
    await Promise.all([run.over, executor.close()]);
    expect(outcome.status).toBe('succeeded');
    expect(outlet.of('event').map(({ event }) => event)).toEqual(sinks.events);
    expect(outlet.of('metrics').flatMap(({ points }) => points)).toEqual(sinks.points);
    const { peak_memory: memory, seconds: _, ...end } = outlet.outcome;
    const { peak_memory: __, seconds: ___, facts: ____, ...same } = outcome;
    expect(end).toEqual(same);
    expect(memory).toEqual([{ device: 'cpu', bytes: expect.any(Number), exact: true }]);
    expect(memory[0]!.bytes).toBeGreaterThan(30 * 1024 * 1024);
  });

  it('says first that it started, with its devices, then what computes and where', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['a', 'Give', { amount: 3 }]));
    await run.over;
    const [started, facts] = outlet.frames;
    expect(started).toMatchObject({ type: 'run_started', visible_devices: null, device_aliases: {} });
    expect(facts).toMatchObject({
      type: 'run_facts',
      facts: { runtime: { kind: 'onnx' }, fingerprint: { node: process.version, devices: ['cpu'] } },
    });
    expect(outlet.frames.at(-1)).toMatchObject({ type: 'run_finished', outcome: { status: 'succeeded' } });
    const sent = outlet.of('event').map(({ at_ms: at }) => at);
    expect(sent).toEqual([...sent].sort((a, b) => a - b));
    expect(readdirSync(place.runFolder())).toEqual(['output.log']);
  });

  it('gives the run its cards under its own names, its folder, and no setting of the agent', async () => {
    const environment = {
      ...process.env,
      CODEFYUI_DB_PATH: '/db',
      CODEFYUI_AGENT_TOKEN_FILE: '/token',
      CODEFYUI_RUNTIME_PROVIDERS: entryPath('libs/run-host/testing/cuda-provider'),
      CODEFYUI_WORKER_NICE: '7',
    };
    const launcher = place.launcher({ environment });
    const devices = ['cuda:2', 'cuda:0'];
    const { run, outlet } = place.launch(launcher, chain(['s', 'Show']), { device: 'cuda:2', devices });
    await run.over;
    expect(outlet.of('run_started')).toMatchObject([
      { visible_devices: '2,0', device_aliases: { 'cuda:0': 'cuda:2', 'cuda:1': 'cuda:0' } },
    ]);
    expect(outlet.of('run_facts')).toMatchObject([{ facts: { runtime: { device: 'cuda:0' } } }]);
    expect(JSON.parse(place.output())).toMatchObject({
      nice: 7,
      folder: place.runFolder(),
      cards: '2,0',
      order: 'PCI_BUS_ID',
    });
    expect(place.output()).not.toMatch(/DB_PATH|AGENT_TOKEN/);
  });

  it('refuses a device that no provider serves, and storage that it cannot use', async () => {
    const first = place.launch(place.launcher(), chain(['a', 'Give']), { device: 'cuda:0', devices: ['cuda:0'] });
    await first.run.over;
    expect(first.outlet.outcome).toMatchObject({ status: 'failed', reason: { code: 'device_not_available' } });
    const second = place.launch(place.launcher(), chain(['a', 'Give']), { storage: { backend: 'mount', label: 'x' } });
    await second.run.over;
    expect(second.outlet.outcome).toMatchObject({ status: 'failed', reason: { code: 'run_not_started' } });
  });

  it.each([
    ['on a full disk', `fs.closeSync(1); fs.openSync('/dev/full', 'w');`, 'ENOSPC'],
    ['to streams that the node has closed', `for (const fd of [0, 1, 2]) fs.closeSync(fd);`, 'EBADF'],
  ])('goes on when what it prints is lost %s, and says so once', async (_, close, error) => {
    const lose = `const fs = require('node:fs'); ${close} console.log('one'); console.error('two'); return { value: 1 };`;
    place.write('Lose', lose);
    const { run, outlet } = place.launch(place.launcher(), chain(['l', 'Lose']));
    await run.over;
    expect(outlet.outcome).toMatchObject({ status: 'succeeded' });
    expect(outlet.of('warning').map(({ warning }) => [warning.code, warning.params])).toEqual([
      ['output_lost', { error }],
    ]);
  });

  it('ends in order though its node closed the standard streams and printed nothing', async () => {
    place.write('Close', `for (const fd of [0, 1, 2]) require('node:fs').closeSync(fd); return { value: 1 };`);
    const { run, outlet } = place.launch(place.launcher(), chain(['c', 'Close']));
    await run.over;
    expect(outlet.outcome).toMatchObject({ status: 'succeeded' });
  });

  it('writes what is printed to the log, without secrets', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['s', 'Shout', { key: 'canary-1' }]));
    await run.over;
    expect(place.output()).toBe('out log\nerror [secret]\n');
    expect(JSON.stringify(outlet.frames)).not.toContain('out log');
  });

  it('stops a loop that looks whether it shall', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['p', 'Poll'], ['after', 'Give']));
    await place.printed('polling');
    run.stop(30, 'cancel');
    await run.over;
    expect(outlet.outcome).toMatchObject({ status: 'cancelled', reason: { code: 'cancelled' } });
    expect(outlet.trail).not.toContain('after:running');
  });

  it('calls a run interrupted that stopped because its agent was stopped', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['p', 'Poll']));
    await place.printed('polling');
    run.stop(30, 'agent_stopped');
    await run.over;
    expect(outlet.outcome).toMatchObject({ status: 'interrupted', reason: { code: 'agent_stopped' } });
    expect(outlet.outcome.error).toBe('The worker was stopped before the run was over');
  });

  it('terminates a run that goes on after its grace', async () => {
    const { run, outlet } = place.launch(place.launcher({ killAfterTerminateMs: 60_000 }), chain(['s', 'Spin']));
    await place.printed('spinning');
    expect(outlet.trail).toContain('s:running');
    run.stop(0.2, 'cancel');
    await run.over;
    expect(outlet.outcome).toMatchObject({
      status: 'failed',
      error: 'The run did not stop within 0.2 s and was ended by force',
      reason: { code: 'run_unresponsive', params: { seconds: 0.2 } },
    });
  });

  it('kills a run that ignores that too, and one that shall end at once', async () => {
    const launcher = place.launcher({ killAfterTerminateMs: 200 });
    const deaf = place.launch(launcher, chain(['s', 'Stubborn']));
    await place.printed('spinning');
    deaf.run.stop(0.1, 'agent_stopped');
    await deaf.run.over;
    expect(deaf.outlet.outcome).toMatchObject({ status: 'interrupted', reason: { code: 'agent_stopped' } });
    const second = place.launch(place.launcher({ killAfterTerminateMs: 60_000 }), chain(['s', 'Stubborn']));
    await place.printed('spinning');
    second.run.stop(60, 'cancel');
    second.run.stop(0, 'cancel');
    await second.run.over;
    expect(second.outlet.outcome.reason).toEqual({ code: 'run_unresponsive', params: { seconds: 0 } });
  });

  it('ends a process that is frozen', async () => {
    const { run, outlet } = place.launch(place.launcher({ killAfterTerminateMs: 100 }), chain(['s', 'Spin']));
    await place.printed('spinning');
    process.kill(readCookie(place.runFolder())!.pid!, 'SIGSTOP');
    run.stop(0.1, 'cancel');
    await run.over;
    expect(outlet.outcome.reason?.code).toBe('run_unresponsive');
  });

  it('names a process that was killed from outside, or ended by a signal', async () => {
    const killed = place.launch(place.launcher(), chain(['d', 'Die']));
    await killed.run.over;
    expect(killed.outlet.outcome).toMatchObject({ status: 'failed', reason: { code: 'run_killed', params: {} } });
    expect(killed.outlet.trail.at(-1)).toBe('d:running');
    const ended = place.launch(place.launcher(), chain(['d', 'Die', { key: 'SIGBUS' }]));
    await ended.run.over;
    expect(ended.outlet.outcome.reason).toEqual({ code: 'run_signal', params: { signal: 'SIGBUS' } });
  });

  it('tells the exit code of a process that ended itself, with the end of what it printed', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['x', 'Exit']));
    await run.over;
    const { error, reason } = outlet.outcome;
    expect(reason).toEqual({ code: 'run_exit', params: { code: 7 } });
    expect(error).toMatch(
      /^The run’s process ended by itself with exit code 7\nThe end of its output:\nx{4000,} Grüße$/,
    );
    expect(Buffer.byteLength(error!)).toBeLessThan(4096 + 120);
    expect(outlet.trail).toContain('x:running');
  });

  it('names a heap that is full', async () => {
    const { run, outlet } = place.launch(place.launcher({ heapMb: 64 }), chain(['h', 'Hoard']));
    await run.over;
    expect(outlet.outcome).toMatchObject({
      status: 'failed',
      reason: { code: 'run_out_of_memory', params: { memory: 'heap' } },
    });
  });

  it('names an error that node code throws outside of its execution', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['x', 'Stray', { key: 'canary-2' }]));
    await run.over;
    expect(outlet.outcome).toMatchObject({ status: 'failed', reason: { code: 'uncaught_error' } });
    expect(JSON.stringify(outlet.frames)).not.toContain('canary');
  });

  it('ends a process whose reports cannot be read', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['g', 'Garbage']));
    await run.over;
    expect(outlet.outcome).toMatchObject({ status: 'failed', reason: { code: 'run_unreadable' } });
  });

  it('says when what it would report is too large to be sent', async () => {
    const graph = chain(['a', 'Large', { amount: 6_000_000 }]);
    const { run, outlet } = place.launch(place.launcher(), graph, { payload_cap_bytes: 100_000_000 });
    await run.over;
    expect(outlet.of('warning').map(({ warning }) => warning)).toMatchObject([
      { kind: 'frame_too_large', params: { kind: 'artifact' } },
    ]);
    expect(outlet.of('artifact')).toEqual([]);
    expect(outlet.outcome.status).toBe('succeeded');
  });

  it('holds up a run whose reader is slow, and loses nothing', async () => {
    const outlet = new CollectingOutlet(500);
    let most = 0;
    const reading = setInterval(() => {
      most = Math.max(most, outlet.pending);
      outlet.drain();
    }, 2);
    const amount = times(20_000, 200_000);
    const { run } = place.launch(place.launcher(), chain(['f', 'Flood', { amount }]), { outlet });
    await run.over;
    clearInterval(reading);
    const steps = outlet.trail.filter((entry) => entry === 'f:progress');
    expect(steps).toHaveLength(amount);
    expect(outlet.outcome.status).toBe('succeeded');
    expect(most).toBeLessThan(5_000);
  });

  it('reports a process that could not be started, when its launcher has it in hand', async () => {
    const outlet = new CollectingOutlet();
    const run = place.launcher().launch(place.assignment(chain(['a', 'Give']), { run_id: 'no-folder' }), outlet);
    expect(outlet.frames).toEqual([]);
    run.stop(0, 'cancel');
    await run.over;
    expect(outlet.frames).toMatchObject([{ outcome: { status: 'failed', reason: { code: 'run_not_started' } } }]);
  });

  it('leaves no trace of a process that could not be started', async () => {
    const { run, outlet } = place.launch(place.launcher({ environment: { BAD: 'zero\0byte' } }), chain(['a', 'Give']));
    await run.over;
    expect(outlet.frames).toMatchObject([{ outcome: { status: 'failed', reason: { code: 'run_not_started' } } }]);
    expect(readdirSync(place.runFolder())).toEqual(['output.log']);
  });
});

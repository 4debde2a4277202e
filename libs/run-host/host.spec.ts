import { FakeRuntime } from '@cdui/engine/run/testing/fake-runtime';
import { FOLDERS, gate, presetsOf, registryOf } from '@cdui/engine/run/testing/harness';
import type { NodeSpec } from '@cdui/node-sdk';
import { param } from '@cdui/node-sdk';
import type { GraphFile, RunHostAnswer, RunHostMessage, RunOutcome } from '@cdui/protocol';
import type { RunHostWorld } from './host';
import { RunHost } from './host';
import { hostSettings } from './settings';
import { chain } from './testing/workplace';

const start: NodeSpec = {
  name: 'Start',
  category: 'Control',
  description: '',
  outputs: { trigger: 'TRIGGER' },
  execute: () => ({}),
};

function node(name: string, execute: NodeSpec['execute']): NodeSpec {
  return { name, category: 'Test', description: '', inputs: { in: 'ANY?' }, outputs: { value: 'ANY' }, execute };
}

function make(types: readonly NodeSpec[], world: Partial<RunHostWorld> = {}) {
  const messages: (RunHostMessage | RunHostAnswer)[] = [];
  const fake = new FakeRuntime();
  const devices: string[] = [];
  const outcomes = new Map<string, (outcome: RunOutcome) => void>();
  const host = new RunHost({
    post: (message) => {
      messages.push(message);
      if (message.type === 'run_finished') outcomes.get(message.run_id)?.(message.outcome);
    },
    settings: hostSettings({}),
    catalogue: () => ({ registry: registryOf(start, ...types), presets: presetsOf() }),
    openRuntime: (device) => {
      devices.push(device);
      return Promise.resolve(fake.runtime);
    },
    stopRequested: () => null,
    now: () => 1_000,
    sleep: () => Promise.resolve(),
    session: false,
    ...world,
  });
  const run = (id: string, graph: GraphFile): Promise<RunOutcome> =>
    new Promise((resolve) => {
      outcomes.set(id, resolve);
      host.handle({ type: 'start', run_id: id, graph, options: {}, folders: FOLDERS });
    });
  return { host, run, messages, devices, types: () => messages.map(({ type }) => type) };
}

describe('RunHost', () => {
  it('says that a run started before anything of it, and that it finished after everything', async () => {
    const { run, types } = make([node('Log', (context) => (context.log('x'), {}))]);
    expect((await run('r', chain(['a', 'Log']))).status).toBe('succeeded');
    expect(types().slice(0, 2)).toEqual(['run_started', 'run_facts']);
    expect(types().at(-1)).toBe('run_finished');
  });

  it('opens its runtime once, for the graph’s device', async () => {
    const { run, devices } = make([node('Nothing', () => ({}))]);
    const graph = { ...chain(['a', 'Nothing']), settings: { device: 'auto' } };
    await run('r1', graph);
    await run('r2', graph);
    expect(devices).toEqual(['cpu']);
  });

  it('refuses a second run while one goes on, and does not disturb it', async () => {
    const { opened, open } = gate();
    const { run } = make([node('Wait', () => opened.then(() => ({ value: 1 })))]);
    const first = run('r1', chain(['a', 'Wait']));
    expect(await run('r2', chain(['a', 'Wait']))).toMatchObject({
      status: 'failed',
      reason: { code: 'run_host_busy' },
    });
    open();
    expect((await first).status).toBe('succeeded');
  });

  it('cancels the run that is named, with its reason', async () => {
    const { opened, open } = gate();
    const { host, run } = make([node('Wait', () => opened.then(() => ({ value: 1 })))]);
    const first = run('r1', chain(['a', 'Wait'], ['b', 'Wait']));
    host.handle({ type: 'cancel', run_id: 'another', reason: 'user' });
    host.handle({ type: 'cancel', run_id: 'r1', reason: 'budget' });
    open();
    expect(await first).toMatchObject({ status: 'cancelled', reason: { params: { reason: 'budget' } } });
  });

  it('says why when its runtime does not start', async () => {
    const { run, types } = make([node('Nothing', () => ({}))], {
      openRuntime: () => Promise.reject(Object.assign(new Error('no such library'), { code: 'start_failed' })),
    });
    expect(await run('r', chain(['a', 'Nothing']))).toMatchObject({
      status: 'failed',
      error: 'no such library',
      reason: { code: 'start_failed' },
    });
    expect(types()).toEqual(['run_finished']);
  });

  it('keeps secrets out of what is said about the file itself', async () => {
    const { run } = make([]);
    const outcome = await run('r', chain(['canary-7', 'NoSuchNode', { api_key: 'canary-7' }]));
    expect(outcome.reason?.code).toBe('invalid_graph');
    expect(JSON.stringify(outcome)).not.toContain('canary-7');
  });

  it('keeps the secrets of installed presets out of the console: a Map may run any of them', async () => {
    const secretive: NodeSpec = { ...node('Secretive', () => ({})), params: { key: param.secret() } };
    const types = [secretive, node('Print', () => (host.console('the key is canary-8\n'), {}))];
    const preset = {
      preset_name: 'Mapped',
      nodes: [{ id: 'in', type: 'Secretive', params: { key: 'canary-8' } }],
      edges: [],
      exposed_inputs: [],
      exposed_outputs: [],
      exposed_params: [],
    };
    const { host, run, messages } = make(types, {
      catalogue: () => ({ registry: registryOf(start, ...types), presets: presetsOf(preset) }),
    });
    await run('r', chain(['a', 'Print']));
    const console = messages.flatMap((message) => (message.type === 'console' ? message.text : [])).join('');
    expect(console).toContain('the key is [secret]');
    expect(JSON.stringify(messages)).not.toContain('canary-8');
  });

  it('warns of options that only a canvas session has', async () => {
    const { host, messages } = make([node('Nothing', () => ({}))]);
    const graph = chain(['a', 'Nothing']);
    host.handle({ type: 'start', run_id: 'r', graph, options: { weights_persistent: true }, folders: FOLDERS });
    await host.close();
    expect(messages).toContainEqual(
      expect.objectContaining({
        type: 'warning',
        warning: expect.objectContaining({ params: { option: 'weights_persistent' } }),
      }),
    );
  });
});

describe('hostSettings', () => {
  it('reads the environment, and names a number that is none', () => {
    expect(hostSettings({ CODEFYUI_MAX_PARALLEL_NODES: '2', CODEFYUI_DEBUG: 'true' })).toMatchObject({
      maxParallel: 2,
      debug: true,
      payloadCapBytes: 131_072,
    });
    expect(() => hostSettings({ CODEFYUI_MAX_PARALLEL_NODES: 'many' })).toThrow(
      'CODEFYUI_MAX_PARALLEL_NODES must be a whole number of at least 1, got "many"',
    );
  });
});

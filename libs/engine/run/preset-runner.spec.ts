import type { NodeSpec } from '@cdui/node-sdk';
import { interrupted } from '@cdui/node-sdk';
import type { PresetDefinition } from '@cdui/protocol';
import { deriveSeed } from './seeds';
import { Harness, planned, planOf, presetsOf, registryOf } from './testing/harness';

const base = { category: 'Test', description: '' };
const items: NodeSpec = {
  ...base,
  name: 'Items',
  outputs: { items: 'LIST' },
  execute: ({ scope }) => ({
    items: [1, 2, 3].map((value) => scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(value) })),
  }),
};
const map: NodeSpec = {
  ...base,
  name: 'Map',
  inputs: { items: 'LIST' },
  outputs: { results: 'LIST' },
  execute: async (context, inputs) => {
    const results = [];
    for (const [index, item] of inputs.list('items').entries()) {
      results.push(await context.runPreset('Twice', item, index));
    }
    return { results };
  },
};
const twice: NodeSpec = {
  ...base,
  name: 'Twice',
  inputs: { x: 'TENSOR' },
  outputs: { y: 'TENSOR' },
  execute: async (context, inputs) => {
    const [value = 0] = (await context.scope.read(inputs.tensor('x'))).data as Float32Array;
    context.log(`${context.nodeId} seed ${context.seed}`);
    context.progress({ event: 'batch' });
    context.metric('value', value, 1);
    context.artifact('file', '/nowhere');
    return { y: context.scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(value * 2) }) };
  },
};
const same: NodeSpec = {
  ...base,
  name: 'Same',
  inputs: { x: 'TENSOR' },
  outputs: { y: 'TENSOR' },
  execute: (_context, inputs) => ({ y: inputs.tensor('x') }),
};
const preset: PresetDefinition = {
  preset_name: 'Twice',
  nodes: [
    { id: 'double', type: 'Twice' },
    { id: 'pass', type: 'Same' },
  ],
  edges: [{ source: 'double', sourceHandle: 'y', target: 'pass', targetHandle: 'x' }],
  exposed_inputs: [{ name: 'in', internal_node: 'double', internal_port: 'x', data_type: 'TENSOR' }],
  exposed_outputs: [{ name: 'out', internal_node: 'pass', internal_port: 'y', data_type: 'TENSOR' }],
  exposed_params: [],
};
const plan = planOf(planned('items', 'Items'), planned('map', 'Map', { items: 'items.items' }));

describe('a preset run as a function', () => {
  it('gives one result for each item, which lives until the caller’s own result is read', async () => {
    const harness = new Harness();
    const seen: unknown[] = [];
    const look: NodeSpec = {
      ...base,
      name: 'Look',
      inputs: { results: 'LIST' },
      execute: async ({ scope }, inputs) => {
        for (const result of inputs.list('results')) {
          seen.push(...((await scope.read(result as Parameters<typeof scope.read>[0])).data as Float32Array));
        }
        return {};
      },
    };
    const result = await harness.run({
      registry: registryOf(items, map, twice, same, look),
      presets: presetsOf(preset),
      plan: planOf(...plan.nodes, planned('look', 'Look', { results: 'map.results' })),
    });
    expect(result.error).toBeNull();
    expect(seen).toEqual([2, 4, 6]);
    expect(harness.fake.live.size).toBe(0);
    expect(harness.fake.open.size).toBe(0);
  });

  it('logs, with a seed of its own for each item, and reports nothing else', async () => {
    const harness = new Harness();
    await harness.run({
      registry: registryOf(items, map, twice, same),
      presets: presetsOf(preset),
      plan,
      options: { seed: 5 },
    });
    const { text, metrics, artifacts, trail } = harness.observer;
    const labels = [0, 1, 2].map((index) => `map[${index}]/double`);
    expect(text).toBe(labels.map((label) => `${label} seed ${deriveSeed(5, label)}\n`).join(''));
    expect([metrics, artifacts]).toEqual([[], []]);
    expect(trail).toEqual(['items:running', 'items:completed', 'map:running', 'map:completed']);
  });

  it('names preset, item and node in an inner error, and keeps its code', async () => {
    const harness = new Harness();
    const bad: NodeSpec = {
      ...twice,
      execute: () => {
        throw Object.assign(new Error('no memory left'), { code: 'out_of_memory' });
      },
    };
    const result = await harness.run({ registry: registryOf(items, map, bad, same), presets: presetsOf(preset), plan });
    expect(result.error).toBe('Map "map": Preset "Twice", item 0, node "double": no memory left');
    expect(result.reason?.params).toMatchObject({ error_type: 'out_of_memory' });
    expect(harness.fake.live.size).toBe(0);
  });

  it('says which presets there are when it is not installed', async () => {
    const result = await new Harness().run({
      registry: registryOf(items, map, twice, same),
      presets: presetsOf({ ...preset, preset_name: 'Other' }),
      plan,
    });
    expect(result.error).toContain('There is no installed preset "Twice"; installed are: Other');
    expect(result.reason?.params).toMatchObject({ error_type: 'unknown_preset' });
  });

  it('fails when it gives no value', async () => {
    const empty: NodeSpec = { ...same, execute: () => ({}) };
    const result = await new Harness().run({
      registry: registryOf(items, map, twice, empty),
      presets: presetsOf(preset),
      plan,
    });
    expect(result.reason?.params).toMatchObject({ error_type: 'missing_result' });
  });

  it('may run presets that run presets, ten deep, and never without end', async () => {
    const again: NodeSpec = {
      ...same,
      name: 'Again',
      execute: async (context, inputs) => ({ y: await context.runPreset('Loop', inputs.any('x'), 0) }),
    };
    const loop: PresetDefinition = {
      ...preset,
      preset_name: 'Loop',
      nodes: [{ id: 'again', type: 'Again' }],
      edges: [],
      exposed_inputs: [{ name: 'in', internal_node: 'again', internal_port: 'x', data_type: 'TENSOR' }],
      exposed_outputs: [{ name: 'out', internal_node: 'again', internal_port: 'y', data_type: 'TENSOR' }],
    };
    const tensor: NodeSpec = {
      ...items,
      name: 'One',
      outputs: { y: 'TENSOR' },
      execute: ({ scope }) => ({ y: scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(1) }) }),
    };
    const harness = new Harness();
    const result = await harness.run({
      registry: registryOf(tensor, again),
      presets: presetsOf(loop),
      plan: planOf(planned('one', 'One'), planned('a', 'Again', { x: 'one.y' })),
    });
    expect(result.reason?.params).toMatchObject({ error_type: 'preset_too_deep' });
    expect(result.error).toContain('Loop -> Loop');
    expect(harness.fake.open.size).toBe(0);
    expect(harness.fake.live.size).toBe(0);
  });

  it('stops its caller when a node in it stopped early', async () => {
    const abort = new AbortController();
    const loop: NodeSpec = {
      ...twice,
      execute: (_context, inputs) => {
        abort.abort('user');
        return interrupted({ y: inputs.tensor('x') }, { epoch: 1 });
      },
    };
    const one: NodeSpec = {
      ...map,
      execute: async (context, inputs) => ({
        results: [await context.runPreset('Twice', inputs.list('items')[0] ?? null, 0)],
      }),
    };
    const harness = new Harness();
    const result = await harness.run({
      registry: registryOf(items, one, loop, same),
      presets: presetsOf(preset),
      plan,
      signal: abort.signal,
    });
    expect(result.status).toBe('cancelled');
    expect(harness.observer.last('map')?.status).toBe('interrupted');
  });
});

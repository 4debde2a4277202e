import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeSpec } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';
import type { PresetDefinition } from '@cdui/protocol';
import { ExecutionCache } from './execution-cache';
import { Harness, planned, planOf, presetsOf, registryOf, type Run } from './testing/harness';

let executions: string[] = [];

function counting(spec: Partial<NodeSpec> & { readonly name: string }): NodeSpec {
  return {
    category: 'Test',
    description: '',
    inputs: { a: 'ANY?', b: 'ANY?' },
    outputs: { value: 'ANY' },
    params: { value: param.int(1) },
    ...spec,
    execute: (context, inputs, params) => {
      executions.push(context.nodeId);
      return spec.execute?.(context, inputs, params) ?? { value: params.int('value') };
    },
  };
}

const count = counting({ name: 'Count' });
const subtract = counting({
  name: 'Subtract',
  execute: (_context, inputs) => ({ value: inputs.number('a') - inputs.number('b') }),
});
const fresh = counting({ name: 'Fresh', cacheable: false });
const plan = planOf(
  planned('x', 'Count', {}, { value: 5 }),
  planned('y', 'Count', {}, { value: 3 }),
  planned('d', 'Subtract', { a: 'x.value', b: 'y.value' }),
);
const registry = registryOf(count, subtract, fresh);

describe('ExecutionCache', () => {
  let harness: Harness;
  let cache: ExecutionCache;

  beforeEach(() => {
    harness = new Harness();
    cache = new ExecutionCache();
    executions = [];
  });

  async function executed(run: Partial<Run> = {}): Promise<string[]> {
    executions = [];
    await harness.run({ plan, registry, cache, ...run });
    return [...executions].sort();
  }

  it('executes a node once and reports it as cached the next time, with what it showed', async () => {
    expect(await executed()).toEqual(['d', 'x', 'y']);
    expect(await executed()).toEqual([]);
    expect(harness.observer.trail.slice(-3).sort()).toEqual(['d:cached', 'x:cached', 'y:cached']);
    expect(harness.observer.last('d')?.ports).toEqual([{ port: 'value', kind: 'scalar', value: 2 }]);
  });

  it('executes again what changed and what lies below', async () => {
    await executed();
    const other = planOf(planned('x', 'Count', {}, { value: 6 }), ...plan.nodes.slice(1));
    expect(await executed({ plan: other })).toEqual(['d', 'x']);
  });

  it('tells inputs apart by the port that they enter', async () => {
    await executed();
    const swapped = planOf(...plan.nodes.slice(0, 2), planned('d', 'Subtract', { a: 'y.value', b: 'x.value' }));
    expect(await executed({ plan: swapped })).toEqual(['d']);
    expect(harness.observer.last('d')?.ports).toEqual([{ port: 'value', kind: 'scalar', value: -2 }]);
  });

  it('keeps nothing below a node that is not cacheable', async () => {
    const below = planOf(planned('f', 'Fresh'), planned('x', 'Count', { a: 'f.value' }), planned('y', 'Count'));
    expect(await executed({ plan: below })).toEqual(['f', 'x', 'y']);
    expect(await executed({ plan: below })).toEqual(['f', 'x']);
  });

  it.each([
    ['the seed', { seed: 2 }, ['d', 'x', 'y']],
    ['the device', { device: 'cuda:0' }, ['d', 'x', 'y']],
    ['a verbose run', { verbose: true }, ['d', 'x', 'y']],
    ['backward mode', { backward_mode: true }, ['d', 'x', 'y']],
    ['nodes that the client changed', { changed_nodes: ['x', 'd'] }, ['d', 'x']],
  ])('executes again for %s', async (_what, options, expected) => {
    await executed({ options: { seed: 1 } });
    expect(await executed({ options: { seed: 1, ...options } })).toEqual(expected);
  });

  it('gives no node what another one computed: what they draw at random must differ', async () => {
    let drawn = 0;
    const random = counting({ name: 'Random', execute: () => ({ value: (drawn += 1) }) });
    const two = {
      plan: planOf(planned('x', 'Random'), planned('y', 'Random')),
      registry: registryOf(random),
      maxParallel: 1,
    };
    expect(await executed(two)).toEqual(['x', 'y']);
    expect(await executed(two)).toEqual([]);
    const values = ['x', 'y'].map((id) => harness.observer.last(id)?.ports?.[0]);
    expect(values).toMatchObject([{ value: 1 }, { value: 2 }]);
  });

  describe('a node that runs an installed preset', () => {
    const caller = counting({
      name: 'Caller',
      params: { preset: param.text('P') },
      needs: { runsPreset: 'preset' },
      execute: async (context) => ({ value: await context.runPreset('P', 1, 0) }),
    });
    const types = registryOf(count, fresh, caller);
    const preset = (type: string, value = 1): PresetDefinition => ({
      preset_name: 'P',
      nodes: [{ id: 'in', type, params: { value } }],
      edges: [],
      exposed_inputs: [{ name: 'x', internal_node: 'in', internal_port: 'a' }],
      exposed_outputs: [{ name: 'y', internal_node: 'in', internal_port: 'value' }],
      exposed_params: [],
    });
    const runs = (...presets: PresetDefinition[]) =>
      executed({ plan: planOf(planned('c', 'Caller')), registry: types, presets: presetsOf(...presets) });
    const outer: PresetDefinition = {
      ...preset('preset:Q'),
      exposed_inputs: [{ name: 'x', internal_node: 'in', internal_port: 'x' }],
      exposed_outputs: [{ name: 'y', internal_node: 'in', internal_port: 'y' }],
    };
    const inner = (type: string, value = 1) => ({ ...preset(type, value), preset_name: 'Q' });

    it('executes again when the preset changed, or one inside it', async () => {
      expect(await runs(preset('Count'))).toEqual(['c', 'c[0]/in']);
      expect(await runs(preset('Count'))).toEqual([]);
      expect(await runs(preset('Count', 2))).toEqual(['c', 'c[0]/in']);
      expect(await runs(outer, inner('Count'))).toContain('c');
      expect(await runs(outer, inner('Count'))).toEqual([]);
      expect(await runs(outer, inner('Count', 2))).toContain('c');
    });

    it('executes again when the preset holds a node that is not cacheable', async () => {
      for (const presets of [[preset('Fresh')], [outer, inner('Fresh')]]) {
        await runs(...presets);
        expect(await runs(...presets)).toContain('c');
      }
    });
  });

  it('executes again after a type was loaded afresh, though its definition is the same', async () => {
    await executed();
    expect(await executed({ registry: registryOf(defineNode(count), subtract) })).toContain('x');
  });

  it('executes again when a file changed, by size, time or content', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cache-'));
    const file = join(folder, 'table.csv');
    const reader = counting({ name: 'Reader', files: () => [file] });
    const run = { plan: planOf(planned('r', 'Reader')), registry: registryOf(reader) };
    try {
      writeFileSync(file, 'a,b');
      utimesSync(file, 1_000, 1_000);
      await executed(run);
      expect(await executed(run)).toEqual([]);
      writeFileSync(file, 'a,c');
      utimesSync(file, 1_000, 1_000);
      expect(await executed(run)).toEqual(['r']);
      utimesSync(file, 2_000, 2_000);
      expect(await executed(run)).toEqual(['r']);
      rmSync(file);
      expect(await executed(run)).toEqual(['r']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('drops the least recently used above its number of entries, and gives the handles back', async () => {
    cache = new ExecutionCache({ entries: 2, bytes: 1e6 });
    const tensor = counting({
      name: 'Tensor',
      execute: ({ scope }) => ({ value: scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(1) }) }),
    });
    const tensors = registryOf(tensor);
    const one = (value: number) => ({ plan: planOf(planned('t', 'Tensor', {}, { value })), registry: tensors });
    await executed(one(1));
    await executed(one(2));
    expect(await executed(one(1))).toEqual([]);
    await executed(one(3));
    expect(cache.size).toBe(2);
    expect(harness.fake.live.size).toBe(2);
    expect(await executed(one(1))).toEqual([]);
    expect(await executed(one(2))).toEqual(['t']);
    cache.clear();
    expect(harness.fake.live.size).toBe(0);
  });

  it('holds at most so many bytes, and nothing larger than that', async () => {
    cache = new ExecutionCache({ entries: 100, bytes: 12_000 });
    const tensor = counting({
      name: 'Tensor',
      execute: ({ scope }, _inputs, params) => {
        const size = params.int('value');
        return { value: scope.upload({ shape: [1, size], dtype: 'float32', data: new Float32Array(size) }) };
      },
    });
    for (const value of [200, 210, 220, 5_000]) {
      await executed({ plan: planOf(planned('t', 'Tensor', {}, { value })), registry: registryOf(tensor) });
      expect(cache.bytes).toBeLessThanOrEqual(12_000);
    }
    expect(cache.size).toBeGreaterThan(0);
    expect(harness.fake.live.size).toBe(cache.size);
  });
});

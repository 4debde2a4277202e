import type { NodeSpec } from '@cdui/node-sdk';
import fc from 'fast-check';
import { ModuleStore } from './module-store';
import { Harness, planned, planOf, registryOf } from './testing/harness';

/** Gives the module that was kept for its param, or one of its own; says which of the two in its output. */
const layer: NodeSpec = {
  name: 'Layer',
  category: 'Test',
  description: '',
  inputs: { in: 'ANY?' },
  outputs: { model: 'MODEL', old: 'ANY' },
  execute({ weights, scope }, _inputs, params) {
    const structure = String(params.raw('structure'));
    const found = weights?.find(structure) ?? null;
    const model = found ?? scope.module({ inputs: [], outputs: [], nodes: [] });
    if (!found) weights?.keep(structure, model);
    if (params.raw('fail') === true) throw new Error('after all');
    return { model, old: found !== null };
  },
};
const registry = registryOf(layer);

describe('persistent weights', () => {
  let harness: Harness;
  let store: ModuleStore;

  beforeEach(() => {
    harness = new Harness();
    store = new ModuleStore({ modules: 4, bytes: 1_000 });
  });
  afterEach(() => {
    store.clear();
    expect(harness.fake.live.size).toBe(0);
  });

  async function run(params: Readonly<Record<string, unknown>> = {}, { id = 'l', graphId = 'g', kept = true } = {}) {
    const result = await harness.run({
      plan: planOf(planned(id, 'Layer', {}, { structure: 'a', ...params })),
      registry,
      ...(kept && { modules: { store, graphId } }),
    });
    const old = result.finalOutputs.find(({ facts }) => facts.port === 'old')?.facts;
    return old?.kind === 'scalar' ? old.value : result.status;
  }

  it('come back in the next run of the same graph, node and structure', async () => {
    expect(await run()).toBe(false);
    expect(await run()).toBe(true);
    expect(store.list()).toEqual([{ graphId: 'g', nodeId: 'l' }]);
  });

  it('are of one graph, one node and one structure; another structure drops them', async () => {
    await run();
    expect(await run({}, { graphId: 'other' })).toBe(false);
    expect(await run({}, { id: 'm' })).toBe(false);
    expect(await run({ structure: 'b' })).toBe(false);
    expect(await run()).toBe(false);
  });

  it('are not kept, and not found, by a run that does not ask for it', async () => {
    expect(await run({}, { kept: false })).toBe(false);
    expect(store.size).toBe(0);
    await run();
    expect(await run({}, { kept: false })).toBe(false);
  });

  it('of an execution that fails are not kept, and older ones stay', async () => {
    expect(await run({ fail: true })).toBe('failed');
    expect(store.size).toBe(0);
    await run();
    expect(await run({ fail: true })).toBe('failed');
    expect(await run()).toBe(true);
  });

  it('are reset by graph, node or block', async () => {
    await run();
    await run({}, { id: 'box>inner' });
    await run({}, { graphId: 'h' });
    expect(store.reset('g', ['nobody'])).toBe(0);
    expect(store.reset('g', ['box'])).toBe(1);
    expect(await run()).toBe(true);
    expect(store.reset('g')).toBe(1);
    expect(await run()).toBe(false);
    expect(await run({}, { graphId: 'h' })).toBe(true);
  });

  it('live to the end of the run that uses them, though they are dropped meanwhile', async () => {
    await run();
    const dropping: NodeSpec = {
      ...layer,
      execute: ({ weights }) => {
        const model = weights?.find('a');
        expect(store.reset('g')).toBe(1);
        return { old: model?.freed === false };
      },
    };
    const plan = planOf(planned('l', 'Layer'));
    const result = await harness.run({ plan, registry: registryOf(dropping), modules: { store, graphId: 'g' } });
    expect(result.finalOutputs).toContainEqual({ nodeId: 'l', facts: { port: 'old', kind: 'scalar', value: true } });
  });

  it('are bounded in number and bytes, and free what they drop, whatever happens', () => {
    const structure = fc.constantFrom('a', 'b', 'c');
    const node = fc.constantFrom('x', 'y', 'z');
    const step = fc.oneof(
      fc.record({
        do: fc.constant('keep' as const),
        node,
        structures: fc.uniqueArray(structure, { minLength: 1 }),
        size: fc.nat(120),
      }),
      fc.record({ do: fc.constant('find' as const), node, structure }),
      fc.record({ do: fc.constant('reset' as const), node }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const scope = harness.fake.runtime.openScope({ label: 'test' });
        const limited = new ModuleStore({ modules: 4, bytes: 1_000 });
        for (const each of steps) {
          if (each.do === 'find') limited.find({ graphId: 'g', nodeId: each.node }, each.structure);
          else if (each.do === 'reset') limited.reset('g', [each.node]);
          else {
            const parameters = [{ name: 'w', shape: [each.size], dtype: 'float32', trainable: true }];
            const made = each.structures.map((name) => {
              const module = scope.module({ inputs: [], outputs: [], nodes: [] });
              return [name, Object.assign(module, { parameters })] as const;
            });
            const origin = { nodeId: each.node, innerId: null };
            limited.replace('g', { id: each.node, origin }, new Map(made));
            for (const [, module] of made) scope.keep(module).release();
          }
          expect(limited.size).toBeLessThanOrEqual(4);
          expect(limited.bytes).toBeLessThanOrEqual(1_000);
          expect(harness.fake.live.size).toBe(limited.size);
        }
        limited.clear();
        scope.close();
      }),
    );
  });
});

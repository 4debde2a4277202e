import type { NodeSpec } from '@cdui/node-sdk';
import { param } from '@cdui/node-sdk';
import type { PortFacts } from '@cdui/protocol';
import type { Handle } from '@cdui/tensor/runtime';
import { ExecutionCache } from './execution-cache';
import type { OutputRecorder } from './output-recorder';
import { Harness, planned, planOf, registryOf } from './testing/harness';

const tensorNode: NodeSpec = {
  name: 'Tensor',
  category: 'Test',
  description: '',
  inputs: { in: 'ANY?' },
  outputs: { tensor: 'TENSOR', text: 'STRING' },
  params: { key: param.secret() },
  cacheable: true,
  execute(context, _inputs, params) {
    const { scope } = context;
    const tensor = scope.upload({ shape: [2], dtype: 'float32', data: Float32Array.of(1, 2) });
    const traced = scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(7) });
    context.step({ name: 'first', description: '', tensors: { inside: traced } });
    return { tensor, text: `the key is ${params.text('key')}`, __private__: 1 };
  },
};
const failing: NodeSpec = { ...tensorNode, name: 'Failing', execute: () => Promise.reject(new Error('no')) };
const registry = registryOf(tensorNode, failing);

describe('recording the outputs of a run', () => {
  const recorded = new Map<string, PortFacts>();
  const held: Handle[] = [];
  const recorder: OutputRecorder = {
    record(nodeId, ports, scope) {
      for (const { facts, value } of ports) {
        recorded.set(`${nodeId}.${facts.port}`, facts);
        if (facts.kind === 'tensor') held.push(scope.keep(value as unknown as Handle));
      }
    },
  };
  let harness: Harness;

  beforeEach(() => {
    recorded.clear();
    held.length = 0;
    harness = new Harness();
  });

  it('gives every public port of every node, block or not, and its tensors may be kept', async () => {
    const plan = planOf(planned('a', 'Tensor'), planned('box>b', 'Tensor', { in: 'a.tensor' }));
    await harness.run({ plan, registry, recorder });
    expect([...recorded.keys()]).toEqual(['a.tensor', 'a.text', 'box>b.tensor', 'box>b.text']);
    expect(held.map(({ freed }) => freed)).toEqual([false, false]);
    expect(harness.fake.live.size).toBe(2);
    for (const handle of held) handle.release();
    expect(harness.fake.live.size).toBe(0);
  });

  it('has no secret in its facts', async () => {
    await harness.run({ plan: planOf(planned('a', 'Tensor', {}, { key: 'canary' })), registry, recorder });
    expect(recorded.get('a.text')).toMatchObject({ value: 'the key is [secret]' });
  });

  it('gives the tensors of steps in a verbose run', async () => {
    await harness.run({ plan: planOf(planned('a', 'Tensor')), registry, recorder, options: { verbose: true } });
    expect([...recorded.keys()]).toEqual(['a.tensor', 'a.text', 'a.__steps__', 'a.__step__0__inside']);
    expect(recorded.get('a.__step__0__inside')).toMatchObject({ values: [7] });
  });

  it('gives what nodes that did not compute took from the cache', async () => {
    const cache = new ExecutionCache();
    const plan = planOf(planned('a', 'Tensor'));
    await harness.run({ plan, registry, cache });
    await harness.run({ plan, registry, cache, recorder });
    expect(harness.observer.statuses.at(-1)?.status).toBe('cached');
    expect([...recorded.keys()]).toEqual(['a.tensor', 'a.text']);
    for (const handle of held) handle.release();
    cache.clear();
    expect(harness.fake.live.size).toBe(0);
  });

  it('gives what there is of a run that fails', async () => {
    const plan = planOf(planned('a', 'Tensor'), planned('b', 'Failing', { in: 'a.tensor' }));
    expect((await harness.run({ plan, registry, recorder })).status).toBe('failed');
    expect([...recorded.keys()]).toEqual(['a.tensor', 'a.text']);
  });
});

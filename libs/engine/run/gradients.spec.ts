import { builtinNodes, createNodeRegistry } from '@cdui/nodes';
import type { PortFacts } from '@cdui/protocol';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import type { TensorRuntime } from '@cdui/tensor/runtime';
import { healthOf } from './gradients';
import { Harness, planned, planOf } from './testing/harness';

const registry = createNodeRegistry(builtinNodes);
const input = planned(
  'x',
  'TensorInput',
  {},
  {
    value_mode: 'explicit',
    shape: '2,2',
    values: [
      [1, 2],
      [3, 4],
    ],
  },
);
const layer = planned('fc', 'Linear', { tensor: 'x.tensor' }, { in_features: 2, out_features: 1, bias: true });

describe('the backward pass after the forward pass', () => {
  let runtime: TensorRuntime;

  beforeAll(async () => {
    runtime = await openOnnxRuntime({ device: 'cpu', threads: 1 });
  });
  afterAll(() => runtime.close());

  async function gradients(run: Pick<Parameters<Harness['run']>[0], 'plan' | 'options'>) {
    const harness = new Harness();
    const result = await harness.run({ ...run, registry, runtime });
    expect(result.error).toBeNull();
    expect((await runtime.memory()).liveHandles).toBe(0);
    const found = new Map<string, PortFacts>();
    for (const { origin, ports } of harness.observer.statuses) {
      for (const facts of ports ?? [])
        if (facts.kind === 'gradient') found.set(`${origin.nodeId}.${facts.port}`, facts);
    }
    return found;
  }

  it('starts at BackwardOnce: of the sum of x W + b, dW is the sum of x and db the number of rows', async () => {
    const found = await gradients({
      plan: planOf(input, layer, planned('end', 'BackwardOnce', { tensor: 'fc.tensor' })),
    });
    expect(found.get('fc.__weight_grad__weight')).toMatchObject({ shape: [1, 2], values: [4, 6] });
    expect(found.get('fc.__weight_grad__bias')).toMatchObject({ values: [2], health: { status: 'healthy', norm: 2 } });
    expect(found.get('fc.tensor__grad')).toMatchObject({ values: [1, 1] });
  });

  it('of a node in a container shows on the instance', async () => {
    const inner = planned('box>fc', 'Linear', { tensor: 'x.tensor' }, { in_features: 2, out_features: 1, bias: true });
    const found = await gradients({
      plan: planOf(input, inner, planned('end', 'BackwardOnce', { tensor: 'box>fc.tensor' })),
    });
    expect(found.get('box.fc.__weight_grad__weight')).toMatchObject({ values: [4, 6] });
  });

  it('is left out where nothing asks for it', async () => {
    expect((await gradients({ plan: planOf(input, layer) })).size).toBe(0);
    expect((await gradients({ plan: planOf(input, layer), options: { backward_mode: true } })).size).toBe(0);
  });

  it('takes the largest output that depends on something when it may choose', async () => {
    const relu = planned('act', 'Activation', { tensor: 'fc.tensor' }, { function: 'relu' });
    const options = { backward_mode: true, auto_backward: true };
    const found = await gradients({ plan: planOf(input, layer, relu), options });
    expect([...found.keys()]).toContain('fc.__weight_grad__weight');
  });
});

describe('healthOf', () => {
  it.each([
    [{ norm: 1, mean: 0.1, max: 0.5 }, 'healthy'],
    [{ norm: 9e-8, mean: 1e-3, max: 1 }, 'vanishing'],
    [{ norm: 1, mean: 9e-9, max: 1 }, 'vanishing'],
    [{ norm: 1001, mean: 1, max: 1 }, 'exploding'],
    [{ norm: 1, mean: 1, max: 101 }, 'exploding'],
    [{ norm: NaN, mean: NaN, max: NaN }, 'exploding'],
    [null, 'unknown'],
  ] as const)('of %j is %s', (sizes, status) => {
    expect(healthOf(sizes).status).toBe(status);
  });
});

import type { HostTensor, ModuleRef, ModuleSpec, Scope, TensorRef, TensorRuntime } from '../runtime';
import { localRuntime } from './testing/local-runtime';

const LINEAR: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'fc' } }],
  nodes: [{ id: 'fc', layer: 'Linear', params: { in_features: 2, out_features: 2 }, from: [{ input: 'x' }] }],
};
const DROP: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'drop' } }],
  nodes: [{ id: 'drop', layer: 'Dropout', params: { p: 0.5 }, from: [{ input: 'x' }] }],
};

function numbers(tensor: HostTensor): number[] {
  return Array.from(tensor.data as unknown as ArrayLike<number | bigint>, Number);
}

describe.each([1, 2])('backward with %d threads', (threads) => {
  let runtime: TensorRuntime;
  let scope: Scope;

  beforeAll(async () => {
    ({ runtime } = await localRuntime(threads));
  });
  afterAll(() => runtime.close());
  beforeEach(() => {
    scope = runtime.openScope({ label: 'backward', seed: 5, recordGradients: true });
  });
  afterEach(() => scope.close());

  const floats = (
    values: readonly number[],
    shape: readonly number[] = [values.length],
    requiresGrad = true,
    inner = scope,
  ) => inner.upload({ shape, dtype: 'float32', data: Float32Array.from(values) }, { requiresGrad });
  const gradients = async (
    of: TensorRef,
    tensors: readonly TensorRef[],
    modules: readonly ModuleRef[] = [],
    inner = scope,
  ) => {
    const found = await inner.backward(of, { tensors, modules });
    const values = async (tensor: TensorRef | null) => (tensor ? numbers(await inner.read(tensor)) : null);
    const parameters = found.parameters.map(async (map) =>
      Object.fromEntries(
        await Promise.all(Object.entries(map).map(async ([name, tensor]) => [name, await values(tensor)] as const)),
      ),
    );
    return { tensors: await Promise.all(found.tensors.map(values)), parameters: await Promise.all(parameters) };
  };

  it('differentiates a chain of ops, leaves and intermediates alike', async () => {
    const x = floats([1, 2, 3]);
    const square = scope.op('mul', [x, x], {});
    const loss = scope.op('sum', [scope.op('affine', [square], { scale: 2 })], {});
    expect((await gradients(loss, [x, square, loss])).tensors).toEqual([[4, 8, 12], [2, 2, 2], [1]]);
  });

  it('takes the gradient of the sum of a tensor with dimensions, and of a leaf itself', async () => {
    const x = floats([1, -2]);
    expect((await gradients(scope.op('activation', [x], { function: 'relu' }), [x])).tensors).toEqual([[1, 0]]);
    expect((await gradients(x, [x, floats([1])])).tensors).toEqual([[1, 1], null]);
  });

  it('has no gradient where nothing depends, nothing was asked, or the way was cut', async () => {
    const x = floats([1, 2]);
    const unused = floats([5]);
    const constant = floats([3, 4], [2], false);
    const loss = scope.op('sum', [scope.op('mul', [x, constant], {})], {});
    expect((await gradients(loss, [x, unused, constant], [scope.module(LINEAR)])).tensors).toEqual([
      [3, 4],
      null,
      null,
    ]);
    const cut = scope.op('mul', [scope.op('detach', [x], {}), x], {});
    expect((await gradients(cut, [x])).tensors).toEqual([[1, 2]]);
    await expect(scope.backward(constant, { tensors: [x], modules: [] })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('reaches the parameters of modules, over several passes and modules', async () => {
    const module = scope.module(LINEAR);
    const other = scope.module(LINEAR);
    const x = floats([1, 2], [1, 2]);
    const hidden = scope.forward(module, { x }, { mode: 'train' })['y']!;
    const twice = scope.forward(module, { x: hidden }, { mode: 'train' })['y']!;
    const end = scope.forward(other, { x: twice }, { mode: 'train' })['y']!;
    const { tensors, parameters } = await gradients(scope.op('sum', [end], {}), [x, hidden], [module, other]);
    const tensorsOf = async (of: ModuleRef) => {
      const state = scope.tensorsOf(scope.snapshot(of));
      return { w: numbers(await scope.read(state['fc.weight']!)), b: numbers(await scope.read(state['fc.bias']!)) };
    };
    const [{ w }, { w: v }] = [await tensorsOf(module), await tensorsOf(other)];
    const at = (m: readonly number[], g: readonly number[]) => [
      m[0]! * g[0]! + m[2]! * g[1]!,
      m[1]! * g[0]! + m[3]! * g[1]!,
    ];
    const near = (actual: readonly number[] | null, wanted: readonly number[]) => {
      expect(actual).toHaveLength(wanted.length);
      wanted.forEach((value, i) => expect(actual![i]!).toBeCloseTo(value, 5));
    };
    const g2 = at(v, [1, 1]);
    const g1 = at(w, g2);
    const h = numbers(await scope.read(hidden));
    near(tensors[1]!, g1);
    near(tensors[0]!, at(w, g1));
    near(parameters[0]!['fc.bias']!, [g2[0]! + g1[0]!, g2[1]! + g1[1]!]);
    near(parameters[0]!['fc.weight']!, [
      g2[0]! * h[0]! + g1[0]!,
      g2[0]! * h[1]! + 2 * g1[0]!,
      g2[1]! * h[0]! + g1[1]!,
      g2[1]! * h[1]! + 2 * g1[1]!,
    ]);
    near(parameters[1]!['fc.bias']!, [1, 1]);
  });

  it('uses the masks of the recorded pass again', async () => {
    const ones = floats(new Array<number>(64).fill(1));
    const dropped = scope.op('dropout', [ones], { p: 0.5 });
    const layered = scope.forward(scope.module(DROP), { x: ones }, { mode: 'train' })['y']!;
    expect((await gradients(dropped, [ones])).tensors[0]).toEqual(numbers(await scope.read(dropped)));
    expect((await gradients(layered, [ones])).tensors[0]).toEqual(numbers(await scope.read(layered)));
    const both = scope.op('add', [dropped, layered], {});
    expect((await gradients(both, [ones])).tensors[0]).toEqual(numbers(await scope.read(both)));
  });

  it('answers alike when it is asked again, and after other shapes', async () => {
    const ask = async (length: number) => {
      const x = floats(Array.from({ length }, (_, i) => i));
      return (await gradients(scope.op('sum', [scope.op('mul', [x, x], {})], {}), [x])).tensors[0];
    };
    expect([await ask(2), await ask(3), await ask(2)]).toEqual([
      [0, 2],
      [0, 2, 4],
      [0, 2],
    ]);
  });

  it('keeps a record while something alive depends on it, across scopes', async () => {
    const inner = runtime.openScope({ label: 'node', recordGradients: true });
    const x = floats([1, 2, 3]);
    const result = inner.op('exp', [inner.op('mul', [x, floats([2, 2, 2], [3], false, inner)], {})], {});
    inner.keep(result, scope);
    inner.close();
    const wanted = [1, 2, 3].map((value) => 2 * Math.exp(2 * value));
    (await gradients(result, [x])).tensors[0]!.forEach((value, i) => expect(value / wanted[i]!).toBeCloseTo(1, 5));
  });

  it('is refused without a record', async () => {
    const plain = runtime.openScope({ label: 'plain' });
    const x = floats([1], [1], true, plain);
    const y = plain.op('exp', [x], {});
    await expect(scope.backward(y, { tensors: [x], modules: [] })).rejects.toMatchObject({ code: 'invalid_argument' });
    plain.close();
  });

  it('works on records thousands of ops deep', async () => {
    const x = floats([1]);
    let y = x;
    for (let i = 0; i < 3000; i++) y = scope.op('neg', [y], {});
    expect((await gradients(y, [x])).tensors[0]).toEqual([1]);
  });
});

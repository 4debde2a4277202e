import { programRoot } from '@cdui/host/entry';
import { openOnnxRuntime } from '../onnx';
import type { TensorRuntime } from '../runtime';
import { goldenCases, goldenFolder } from './cases';
import { measureParity } from './parity';

/** float32 sums taken in another order differ by about this much, relative to the largest element. */
const BOUND = 1e-4;

describe.each([1, 2])('the embedded runtime with %d threads against PyTorch', (threads) => {
  let runtime: TensorRuntime;

  beforeAll(async () => {
    runtime = await openOnnxRuntime({ device: 'cpu', threads });
  });

  afterAll(() => runtime.close());

  it('gives the same outputs, gradients, statistics and weights', async () => {
    const folder = goldenFolder(programRoot());
    const results = await measureParity(runtime, folder);
    expect(results.length).toBe(goldenCases(folder).length);
    expect(results.filter((result) => !(result.error <= BOUND))).toEqual([]);
  });
});

import type { RuntimeOptions, TensorRuntime } from '../runtime';
import { createClient } from '../runtime/client';
import type { Transport } from '../runtime/wire';
import { errorContract } from './contract-errors';
import { gradientContract } from './contract-gradients';
import { handleContract } from './contract-handles';
import { randomContract } from './contract-random';
import { trainingContract } from './contract-training';
import { vocabularyContract } from './contract-vocabulary';
import { CountingTransport } from './counting-transport';

/** One runtime for all tests of a suite, and what crosses its seam. */
export interface Bench {
  readonly runtime: TensorRuntime;
  readonly wire: CountingTransport;
}

/**
 * What every runtime must keep, whatever is on the other side of the seam. Called from a spec file.
 * @param open starts a runtime that compares each result with shape inference
 */
export function runtimeContract(name: string, open: (options: RuntimeOptions) => Transport): void {
  describe(`${name} keeps the seam's contract:`, () => {
    let current: Bench | null = null;
    const bench = (): Bench => {
      if (!current) throw new Error('the runtime is open only while tests run');
      return current;
    };
    beforeAll(async () => {
      const wire = new CountingTransport(open({ device: 'cpu', threads: 2 }));
      current = { wire, runtime: await createClient(wire) };
    });
    afterAll(async () => {
      await current?.runtime.close();
      current = null;
    });

    vocabularyContract(bench);
    handleContract(bench);
    errorContract(bench);
    randomContract(bench);
    gradientContract(bench);
    trainingContract(bench);
  });
}

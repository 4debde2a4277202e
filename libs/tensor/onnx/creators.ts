import type { Tensor } from 'onnxruntime-node';
import { elements, normaliseOp, type NormalOpTable, type OpName } from '../runtime';
import type { Generator } from './random';
import { filled, fromNumbers, tensorOf } from './tensors';

/** Ops without inputs, which need no session: JavaScript fills them. */
export const CREATORS: ReadonlySet<OpName> = new Set<OpName>([
  'full',
  'arange',
  'rand',
  'randn',
  'randint',
  'randperm',
]);

/** Runs one of `CREATORS`; the random ones draw from `generator`. */
export function create(name: OpName, attrs: unknown, generator: () => Generator): Tensor {
  switch (name) {
    case 'full': {
      const { dtype, shape, value } = normal(name, attrs);
      return filled(dtype, shape, value);
    }
    case 'arange': {
      const { start, end, step, dtype } = normal(name, attrs);
      const count = Math.ceil((end - start) / step);
      return tensorOf(
        dtype,
        [count],
        fromNumbers(
          dtype,
          Float64Array.from({ length: count }, (_, i) => start + i * step),
        ),
      );
    }
    case 'rand': {
      const { shape } = normal(name, attrs);
      const data = new Float32Array(elements(shape));
      generator().uniform(data);
      return tensorOf('float32', shape, data);
    }
    case 'randn': {
      const { shape, mean, std } = normal(name, attrs);
      const data = new Float32Array(elements(shape));
      generator().normal(data, mean, std);
      return tensorOf('float32', shape, data);
    }
    case 'randint': {
      const { shape, low, high } = normal(name, attrs);
      const data = generator().integers(elements(shape), high - low);
      return tensorOf(
        'int64',
        shape,
        fromNumbers(
          'int64',
          data.map((value) => low + value),
        ),
      );
    }
    case 'randperm': {
      const { n } = normal(name, attrs);
      return tensorOf('int64', [n], fromNumbers('int64', generator().permutation(n)));
    }
    default:
      throw new Error(`${name} takes inputs`);
  }
}

function normal<N extends OpName>(name: N, attrs: unknown): NormalOpTable[N] {
  return normaliseOp(name, (attrs ?? {}) as never, []);
}

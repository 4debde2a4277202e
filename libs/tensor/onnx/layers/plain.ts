import { promote, resolveDim } from '../../runtime/ops/meta';
import { meta } from '../graph/data';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { activate, elu, gelu, geluTanh, leakyRelu, prelu } from '../ops/activation';
import { addAll, cast, mul, relu, sigmoid, tanh } from '../ops/elementwise';
import { plus, minus, times } from '../ops/mixed';
import { dropout } from '../ops/random';
import { softmax } from '../ops/reduce';
import { concat, reshape, slice, stack } from '../ops/shape';
import type { LayerEmitters } from './emitters';

export const PLAIN_EMITTERS: LayerEmitters<'Flatten' | 'Reshape' | 'SelectIndex' | 'Dropout'> = {
  Flatten: (g, [x], { start_dim, end_dim }) => {
    const { shape } = x;
    if (shape.length === 0) return reshape(g, x, [1]);
    const [start, end] = [resolveDim(start_dim, shape.length), resolveDim(end_dim, shape.length)];
    const joined = shape.slice(start, end + 1).reduce((a, b) => a * b, 1);
    return reshape(g, x, [...shape.slice(0, start), joined, ...shape.slice(end + 1)]);
  },
  Reshape: (g, [x], { shape }) => {
    const [batch, ...rest] = x.shape;
    const known = Math.abs(shape.reduce((a, b) => a * b, 1));
    const open = rest.reduce((a, b) => a * b, 1) / known;
    return reshape(g, x, [batch!, ...shape.map((size) => (size === -1 ? open : size))]);
  },
  SelectIndex: (g, [x], { dim, index }) => {
    const axis = resolveDim(dim, x.shape.length);
    const at = index < 0 ? index + x.shape[axis]! : index;
    const part = slice(g, x, [{ axis, start: at, stop: at + 1 }]);
    return reshape(
      g,
      part,
      x.shape.filter((_, i) => i !== axis),
    );
  },
  Dropout: (g, [x], { p }, context) => dropout(g, x, p, context),
};

export const ACTIVATION_EMITTERS: LayerEmitters<
  | 'ReLU'
  | 'GELU'
  | 'Sigmoid'
  | 'Tanh'
  | 'LeakyReLU'
  | 'ELU'
  | 'SiLU'
  | 'Mish'
  | 'SELU'
  | 'PReLU'
  | 'Hardswish'
  | 'Softmax'
> = {
  ReLU: (g, [x]) => relu(g, x),
  GELU: (g, [x], { approximate }) => (approximate === 'tanh' ? geluTanh(g, x) : gelu(g, x)),
  Sigmoid: (g, [x]) => sigmoid(g, x),
  Tanh: (g, [x]) => tanh(g, x),
  LeakyReLU: (g, [x], { negative_slope }) => leakyRelu(g, x, negative_slope),
  ELU: (g, [x], { alpha }) => elu(g, x, alpha),
  SiLU: (g, [x]) => activate(g, x, 'silu', 0, null),
  Mish: (g, [x]) => activate(g, x, 'mish', 0, null),
  SELU: (g, [x]) => activate(g, x, 'selu', 0, null),
  PReLU: (g, [x], _params, context) => prelu(g, x, context.required('weight')),
  Hardswish: (g, [x]) => activate(g, x, 'hardswish', 0, null),
  Softmax: (g, [x], { dim }) => softmax(g, x, resolveDim(dim, x.shape.length)),
};

function common(g: Graph, inputs: readonly Value[]): readonly Value[] {
  const dtype = promote(inputs.map(meta));
  return inputs.map((input) => cast(g, input, dtype));
}

export const MERGE_EMITTERS: LayerEmitters<'Add' | 'Subtract' | 'Multiply' | 'Mean' | 'Concat' | 'Stack'> = {
  Add: (g, inputs) => inputs.slice(1).reduce((sum, input) => plus(g, sum, input), inputs[0]),
  Subtract: (g, [a, b]) => minus(g, a, b!),
  Multiply: (g, inputs) => inputs.slice(1).reduce((product, input) => times(g, product, input), inputs[0]),
  Mean: (g, inputs) => mul(g, addAll(g, common(g, inputs)), 1 / inputs.length),
  Concat: (g, inputs, { dim }) => concat(g, common(g, inputs), resolveDim(dim, inputs[0].shape.length)),
  Stack: (g, inputs, { dim }) => stack(g, common(g, inputs), resolveDim(dim, inputs[0].shape.length + 1)),
};

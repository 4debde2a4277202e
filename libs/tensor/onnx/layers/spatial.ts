import type { Value } from '../graph/value';
import { conv2d } from '../ops/conv';
import { relu } from '../ops/elementwise';
import { adaptiveAvgPool2d, avgPool2d, maxPool2d, type PoolGeometry } from '../ops/pool';
import type { LayerEmitters } from './emitters';

type Pair = readonly [number, number];

function geometry(params: { readonly kernel_size: Pair; readonly stride: Pair; readonly padding: Pair }): PoolGeometry {
  return { kernel: params.kernel_size, stride: params.stride, padding: params.padding };
}

/** The input of the ReLU that made `x`, if one did. */
function beforeRelu(x: Value): Value | null {
  return x.op?.type === 'Relu' ? x.op.inputs[0]! : null;
}

export const SPATIAL_EMITTERS: LayerEmitters<'Conv2d' | 'MaxPool2d' | 'AvgPool2d' | 'AdaptiveAvgPool2d'> = {
  Conv2d: (g, [x], params, context) => conv2d(g, x, context.required('weight'), context.weight('bias'), params),
  MaxPool2d: (g, [x], params, context) => {
    // The same values either way round, and a ReLU of a smaller tensor. Where a maximum is not positive, ReLU stops the gradient.
    const inner = context.isPrivate(0) ? beforeRelu(x) : null;
    return inner ? relu(g, maxPool2d(g, inner, geometry(params))) : maxPool2d(g, x, geometry(params));
  },
  AvgPool2d: (g, [x], params) => avgPool2d(g, x, geometry(params), params.count_include_pad),
  AdaptiveAvgPool2d: (g, [x], { output_size: [height, width] }) =>
    adaptiveAvgPool2d(g, x, [height ?? x.shape[2]!, width ?? x.shape[3]!]),
};

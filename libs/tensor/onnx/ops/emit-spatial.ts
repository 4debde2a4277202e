import type { NormalConv2d, NormalPool } from '../../runtime';
import { emitLoss } from '../losses/losses';
import { conv1d, conv2d, convTranspose2d, type ConvGeometry } from './conv';
import type { OpEmitters } from './emit-row';
import { matmulAny } from './matmul';
import { arithmetic } from './mixed';
import { adaptiveAvgPool2d, avgPool2d, maxPool2d, type PoolGeometry } from './pool';
import { logSoftmax, softmax } from './reduce';
import { upsample } from './resize';
import { reshape } from './shape';

type Names =
  | 'matmul'
  | 'conv1d'
  | 'conv2d'
  | 'convTranspose2d'
  | 'maxPool2d'
  | 'avgPool2d'
  | 'adaptiveAvgPool2d'
  | 'upsample'
  | 'softmax'
  | 'logSoftmax'
  | 'loss';

function geometry({ stride, padding, dilation, groups }: NormalConv2d): ConvGeometry {
  return { stride, pads: [...padding, ...padding], dilation, groups };
}

function window({ kernelSize, stride, padding }: NormalPool): PoolGeometry {
  return { kernel: kernelSize, stride, padding };
}

/** Products, convolutions, pools, softmax and losses. */
export const SPATIAL: OpEmitters<Names> = {
  matmul: (g, [a, b]) => arithmetic(g, [a, b!], ([left, right]) => matmulAny(g, left!, right!)),
  conv1d: (g, [x, weight, bias], attrs) => conv1d(g, x, weight!, bias ?? null, attrs),
  conv2d: (g, [x, weight, bias], attrs) => conv2d(g, x, weight!, bias ?? null, geometry(attrs)),
  convTranspose2d: (g, [x, weight, bias], attrs) =>
    convTranspose2d(g, x, weight!, bias ?? null, { ...geometry(attrs), outputPadding: attrs.outputPadding }),
  maxPool2d: (g, [x], attrs) => maxPool2d(g, x, window(attrs)),
  avgPool2d: (g, [x], attrs) => avgPool2d(g, x, window(attrs), attrs.countIncludePad),
  adaptiveAvgPool2d: (g, [x], { outputSize }) => adaptiveAvgPool2d(g, x, outputSize),
  upsample: (g, [x], { mode, scaleFactor }) => upsample(g, x, mode, scaleFactor),
  softmax: (g, [x], { dim }) =>
    x.shape.length ? softmax(g, x, dim) : reshape(g, softmax(g, reshape(g, x, [1]), 0), []),
  logSoftmax: (g, [x], { dim }) =>
    x.shape.length ? logSoftmax(g, x, dim) : reshape(g, logSoftmax(g, reshape(g, x, [1]), 0), []),
  loss: (g, [output, target], spec) => emitLoss(g, spec, output, target ?? null),
};

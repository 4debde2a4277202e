import type { NodeType } from '@cdui/node-sdk';
import { add } from './add';
import { argmax } from './argmax';
import { matMul } from './mat-mul';
import { mean } from './mean';
import { multiply } from './multiply';
import { permute } from './permute';
import { scalarMultiply } from './scalar-multiply';
import { softmax } from './softmax';
import { split } from './split';
import { squeeze } from './squeeze';
import { stack } from './stack';
import { tensorCreate } from './tensor-create';
import { unsqueeze } from './unsqueeze';

export const tensorOperationNodes: readonly NodeType[] = [
  add,
  argmax,
  matMul,
  mean,
  multiply,
  permute,
  scalarMultiply,
  softmax,
  split,
  squeeze,
  stack,
  tensorCreate,
  unsqueeze,
];

import type { NodeType } from '@cdui/node-sdk';
import { activation } from './activation';
import { adaptiveAvgPool2d } from './adaptive-avg-pool2d';
import { avgPool2d } from './avg-pool2d';
import { batchNorm2d } from './batch-norm2d';
import { conv2d } from './conv2d';
import { dropout } from './dropout';
import { maxPool2d } from './max-pool2d';

export const cnnNodes: readonly NodeType[] = [
  activation,
  adaptiveAvgPool2d,
  avgPool2d,
  batchNorm2d,
  conv2d,
  dropout,
  maxPool2d,
];

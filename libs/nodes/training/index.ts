import type { NodeType } from '@cdui/node-sdk';
import { evaluateModelNode } from './evaluate-model';
import { lossNode } from './loss';
import { lrSchedulerNode } from './lr-scheduler';
import { optimizerNode } from './optimizer';
import { sequentialModelNode } from './sequential-model';
import { trainingLoopNode } from './training-loop';

/** Losses, optimizers, schedules, the training loop and evaluation. */
export const trainingNodes: readonly NodeType[] = [
  evaluateModelNode,
  lossNode,
  lrSchedulerNode,
  optimizerNode,
  sequentialModelNode,
  trainingLoopNode(),
];

import type { NodeType } from '@cdui/node-sdk';
import { checkpointLoaderNode } from './checkpoint-loader';
import { checkpointSaverNode } from './checkpoint-saver';
import { inferenceNode } from './inference';
import { modelLoaderNode } from './model-loader';
import { modelSaverNode } from './model-saver';

/** Using, saving and loading models. */
export const modelIoNodes: readonly NodeType[] = [
  checkpointLoaderNode,
  checkpointSaverNode,
  inferenceNode,
  modelLoaderNode,
  modelSaverNode,
];

import type { NodeType } from '@cdui/node-sdk';
import { backwardOnce } from './backward/backward-once';
import { cnnNodes } from './cnn';
import { controlNodes } from './control';
import { dataNodes } from './data';
import { dataFlowNodes } from './data-flow';
import { diffusionNodes } from './diffusion';
import { inputNodes } from './inputs';
import { ioNodes } from './io';
import { modelIoNodes } from './model-io';
import { layerNorm } from './normalization/layer-norm';
import { columnSelector } from './tables/column-selector';
import { tensorOperationNodes } from './tensor-operations';
import { trainingNodes } from './training';
import { multiHeadAttention } from './transformer/multi-head-attention';
import { utilityNodes } from './utility';

/** Every node type that comes with the program. */
export const builtinNodes: readonly NodeType[] = [
  ...controlNodes,
  ...dataNodes,
  columnSelector,
  ...inputNodes,
  ...dataFlowNodes,
  ...cnnNodes,
  layerNorm,
  multiHeadAttention,
  ...tensorOperationNodes,
  ...diffusionNodes,
  ...utilityNodes,
  ...trainingNodes,
  backwardOnce,
  ...modelIoNodes,
  ...ioNodes,
];

import type { NodeType } from '@cdui/node-sdk';
import { graphInput } from './graph-input';
import { graphOutput } from './graph-output';

export const ioNodes: readonly NodeType[] = [graphInput, graphOutput];

import type { NodeType } from '@cdui/node-sdk';
import { tensorInput } from './tensor-input';
import { textInput } from './text-input';

export const inputNodes: readonly NodeType[] = [tensorInput, textInput];

import type { NodeType } from '@cdui/node-sdk';
import { start } from './start';

export const controlNodes: readonly NodeType[] = [start];

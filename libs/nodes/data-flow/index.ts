import type { NodeType } from '@cdui/node-sdk';
import { map } from './map';
import { reduce } from './reduce';
import { switchNode } from './switch';

export const dataFlowNodes: readonly NodeType[] = [map, reduce, switchNode];

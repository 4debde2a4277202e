import type { NodeType } from '@cdui/node-sdk';
import { concat } from './concat';
import { embedding } from './embedding';
import { flatten } from './flatten';
import { linear } from './linear';
import { print } from './print';
import { reshape } from './reshape';
import { visualize } from './visualize';

export const utilityNodes: readonly NodeType[] = [concat, embedding, flatten, linear, print, reshape, visualize];

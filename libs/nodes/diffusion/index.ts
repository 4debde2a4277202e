import type { NodeType } from '@cdui/node-sdk';
import { gaussianNoise } from './gaussian-noise';
import { lerp } from './lerp';
import { upsample } from './upsample';

export const diffusionNodes: readonly NodeType[] = [gaussianNoise, lerp, upsample];

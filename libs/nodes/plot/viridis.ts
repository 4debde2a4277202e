import type { Color } from './canvas';

// Nine points of the viridis map; linear in between they stay within two steps of it.
const POINTS: readonly Color[] = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];

/** The colour of a share from 0 to 1. */
export function viridis(share: number): Color {
  const at = Math.min(1, Math.max(0, share)) * (POINTS.length - 1);
  const index = Math.min(Math.floor(at), POINTS.length - 2);
  const [from, to] = [POINTS[index], POINTS[index + 1]] as [Color, Color];
  const mix = (channel: 0 | 1 | 2): number => Math.round(from[channel] + (to[channel] - from[channel]) * (at - index));
  return [mix(0), mix(1), mix(2)];
}

/** Fixed point of the weights: 8-bit values, 2 bits of headroom, the rest of 32 for the fraction (as Pillow has it). */
const PRECISION_BITS = 32 - 8 - 2;
const HALF = 1 << (PRECISION_BITS - 1);

interface Window {
  readonly start: number;
  readonly weights: Int32Array;
}

/** For every output place the input places below a triangle filter; wider than a pixel when shrinking, so nothing is skipped. */
function windows(from: number, to: number): readonly Window[] {
  const scale = from / to;
  const support = Math.max(scale, 1);
  return Array.from({ length: to }, (_, place) => {
    const centre = (place + 0.5) * scale;
    const start = Math.max(0, Math.trunc(centre - support + 0.5));
    const end = Math.min(from, Math.trunc(centre + support + 0.5));
    const raw = Array.from({ length: end - start }, (_, i) =>
      Math.max(0, 1 - Math.abs((start + i - centre + 0.5) / support)),
    );
    const total = raw.reduce((sum, weight) => sum + weight, 0);
    return {
      start,
      weights: Int32Array.from(raw, (weight) => Math.trunc(0.5 + (weight / total) * (1 << PRECISION_BITS))),
    };
  });
}

/**
 * Resizes planes of bytes `[planes, height, width]` to `[planes, size, size]`: bilinear with antialiasing, rounded to bytes after each
 * direction. These are the numbers of Pillow's `resize(..., BILINEAR)`, which torchvision's Resize uses on images.
 */
export function resizePlanes(
  bytes: Uint8Array,
  planes: number,
  height: number,
  width: number,
  size: number,
): Uint8Array {
  const across = resample(bytes, planes * height, width, size);
  return resampleRows(across, planes, height, size, size);
}

function resample(bytes: Uint8Array, rows: number, width: number, size: number): Uint8Array {
  if (width === size) return bytes;
  const result = new Uint8Array(rows * size);
  windows(width, size).forEach(({ start, weights }, place) => {
    for (let row = 0; row < rows; row++) {
      const base = row * width + start;
      let sum = HALF;
      for (let i = 0; i < weights.length; i++) sum += bytes[base + i]! * weights[i]!;
      result[row * size + place] = clip(sum >> PRECISION_BITS);
    }
  });
  return result;
}

function resampleRows(bytes: Uint8Array, planes: number, height: number, width: number, size: number): Uint8Array {
  if (height === size) return bytes;
  const result = new Uint8Array(planes * size * width);
  windows(height, size).forEach(({ start, weights }, place) => {
    for (let plane = 0; plane < planes; plane++) {
      for (let column = 0; column < width; column++) {
        const base = (plane * height + start) * width + column;
        let sum = HALF;
        for (let i = 0; i < weights.length; i++) sum += bytes[base + i * width]! * weights[i]!;
        result[(plane * size + place) * width + column] = clip(sum >> PRECISION_BITS);
      }
    }
  });
  return result;
}

function clip(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

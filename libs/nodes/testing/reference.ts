/** Plain loops to compare layers with: written for reading, not for speed. */
type Matrix = readonly (readonly number[])[];
type Image = readonly Matrix[];

/** `x` [N, C, H, W] with kernels [O, C, K, K]: the convolution with zero padding. */
export function conv2d(
  x: readonly Image[],
  weight: readonly Image[],
  bias: readonly number[],
  stride: number,
  padding: number,
): unknown {
  return x.map((image) =>
    weight.map((kernel, channel) => {
      const [height, width, size] = [image[0]?.length ?? 0, image[0]?.[0]?.length ?? 0, kernel[0]?.length ?? 0];
      const positions = (length: number): number[] =>
        Array.from(
          { length: Math.floor((length + 2 * padding - size) / stride) + 1 },
          (_, index) => index * stride - padding,
        );
      return positions(height).map((top) =>
        positions(width).map((left) => {
          let sum = bias[channel] ?? 0;
          kernel.forEach((plane, input) =>
            plane.forEach((row, y) =>
              row.forEach((factor, column) => {
                sum += factor * (image[input]?.[top + y]?.[left + column] ?? 0);
              }),
            ),
          );
          return sum;
        }),
      );
    }),
  );
}

/** `x W^T + b` for rows of features. */
export function linear(x: Matrix, weight: Matrix, bias: readonly number[]): number[][] {
  return x.map((row) =>
    weight.map((line, output) => line.reduce((sum, factor, at) => sum + factor * (row[at] ?? 0), bias[output] ?? 0)),
  );
}

/** Numbers as (value - mean) / sqrt(variance + eps), with the variance of the whole population. */
export function normalised(values: readonly number[], eps = 1e-5): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return values.map((value) => (value - mean) / Math.sqrt(variance + eps));
}

export function softmax(values: readonly number[]): number[] {
  const powers = values.map((value) => Math.exp(value - Math.max(...values)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** One head of attention: `softmax(q k^T / sqrt(d))` and its product with the values. */
export function attention(query: Matrix, key: Matrix, value: Matrix): { weights: number[][]; output: number[][] } {
  const scale = 1 / Math.sqrt(query[0]?.length ?? 1);
  const weights = query.map((row) =>
    softmax(key.map((other) => row.reduce((sum, part, at) => sum + part * (other[at] ?? 0), 0) * scale)),
  );
  const output = weights.map((row) =>
    (value[0] ?? []).map((_, column) => row.reduce((sum, weight, at) => sum + weight * (value[at]?.[column] ?? 0), 0)),
  );
  return { weights, output };
}

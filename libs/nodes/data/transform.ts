import { defineNode, param } from '@cdui/node-sdk';
import { resizePlanes } from './resize';
import { ResidentDataset, TO_TENSOR, TO_TENSOR_NORMALIZED } from './resident-dataset';

const MAX_RESIZED_BYTES = 2 ** 31 - 1;

/**
 * Gives an image set another pipeline: resize, bytes to 0 ... 1, normalise to -1 ... 1. It starts from the images as they were loaded, so
 * the last Transform of a chain counts, and it leaves the set it was given as it is: two Transform nodes on one Dataset do not
 * disturb each other.
 */
export const transformNode = defineNode({
  name: 'Transform',
  category: 'Data',
  description: 'Resizes and scales the images of a data set.',
  inputs: { dataset: 'DATASET' },
  outputs: { dataset: ['DATASET', 'The same images with this pipeline instead of the one before'] },
  params: {
    resize: param.int(0, { min: 0, description: 'Height and width after resizing; 0 keeps the size' }),
    normalize: param.bool(true, {
      description: 'Scale to -1 ... 1 (mean 0.5, standard deviation 0.5) instead of 0 ... 1',
    }),
    to_tensor: param.bool(true, { description: 'Make tensors of images; off only together with the others' }),
  },
  async execute(context, inputs, params) {
    const dataset = inputs.dataset('dataset');
    const size = params.int('resize');
    const normalize = params.bool('normalize');
    if (!params.bool('to_tensor')) {
      if (size > 0 || normalize) {
        params.reject('to_tensor', 'must be on when resize or normalize is: a model takes images as tensors only');
      }
      return { dataset };
    }
    if (!(dataset instanceof ResidentDataset) || !dataset.raw) return inputs.reject('dataset', 'a set of images');
    const affine = normalize ? TO_TENSOR_NORMALIZED : TO_TENSOR;
    const { tensor } = dataset.raw;
    const [count = 0, channels = 0, height = 0, width = 0] = tensor.shape;
    if (size === 0 || (height === size && width === size)) return { dataset: dataset.withInput(tensor, affine) };
    if (count * channels * size * Math.max(size, height) > MAX_RESIZED_BYTES) {
      params.reject('resize', `makes more than 2 GiB of the ${count} images`);
    }
    const host = await context.scope.read(tensor);
    const bytes = new Uint8Array(host.data.buffer, host.data.byteOffset, host.data.byteLength);
    const resized = context.scope.upload({
      shape: [count, channels, size, size],
      dtype: 'uint8',
      data: resizePlanes(bytes, count * channels, height, width, size),
    });
    return { dataset: dataset.withInput(resized, affine) };
  },
});

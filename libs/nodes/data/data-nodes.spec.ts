import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataLoaderValue, DatasetValue, NodeResult, PortValue } from '@cdui/node-sdk';
import { NodeRunner, tensor, type NodeCase, type TensorResult } from '../testing/run-node';
import { datasetNode } from './dataset';

let runner: NodeRunner;
let folder: string;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-data-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const output = <T>(result: NodeResult, port: string): T => result.outputs[port] as unknown as T;

/** Runs a node and hands its data set on while it is alive. */
async function withDataset(
  type: string,
  options: NodeCase,
  use: (dataset: DatasetValue & PortValue) => Promise<void>,
): Promise<void> {
  await runner.runNode(type, { ...options, inspect: (_, result) => use(output(result, 'dataset')) });
}

const batchOf = async (dataset: PortValue, params: Readonly<Record<string, unknown>> = {}) => {
  const { outputs } = await runner.runNode('DatasetBatch', { inputs: { dataset }, params });
  return outputs as { images: TensorResult; labels: TensorResult };
};

/** Four images of 2 x 2: bytes 0, 85, 170, 255 in each, labels 0 to 3. */
function putImages(): { folders: { datasets: string }; params: { name: string; data_dir: string } } {
  const raw = join(folder, 'sets/FashionMNIST/raw');
  mkdirSync(raw, { recursive: true });
  const images = Buffer.from([
    0,
    0,
    8,
    3,
    0,
    0,
    0,
    4,
    0,
    0,
    0,
    2,
    0,
    0,
    0,
    2,
    ...Array.from({ length: 4 }, () => [0, 85, 170, 255]).flat(),
  ]);
  writeFileSync(join(raw, 'train-images-idx3-ubyte'), images);
  writeFileSync(join(raw, 'train-labels-idx1-ubyte'), Buffer.from([0, 0, 8, 1, 0, 0, 0, 4, 0, 1, 2, 3]));
  return { folders: { datasets: folder }, params: { name: 'FashionMNIST', data_dir: 'sets' } };
}

const rounded = (values: unknown): unknown =>
  JSON.parse(JSON.stringify(values, (_, value) => (typeof value === 'number' ? Number(value.toFixed(5)) : value)));

describe('Dataset', () => {
  it('scales images to -1 ... 1 and numbers their classes', async () => {
    await withDataset('Dataset', putImages(), async (dataset) => {
      expect(dataset).toMatchObject({ name: 'FashionMNIST', length: 4 });
      expect(dataset.classes?.[9]).toBe('Ankle boot');
      const { images, labels } = await batchOf(dataset, { batch_size: 2, start_index: 1 });
      expect(images).toMatchObject({ shape: [2, 1, 2, 2], dtype: 'float32' });
      expect(rounded(images.values)).toEqual([
        [
          [
            [-1, -0.33333],
            [0.33333, 1],
          ],
        ],
        [
          [
            [-1, -0.33333],
            [0.33333, 1],
          ],
        ],
      ]);
      expect(labels).toEqual({ shape: [2], dtype: 'int64', values: [1, 2] });
    });
  });

  it('keeps the first so many', async () => {
    const { folders, params } = putImages();
    await withDataset('Dataset', { folders, params: { ...params, limit: 3 } }, async (dataset) =>
      expect(dataset.length).toBe(3),
    );
  });

  it('says before the run what it cannot read', () => {
    const issues = datasetNode.check!({ name: 'CIFAR10' }, 'digits');
    expect(issues).toEqual([
      expect.objectContaining({
        code: 'option_not_available',
        node_id: 'digits',
        message: expect.stringContaining('cifar-10-batches-py'),
      }),
    ]);
    expect(datasetNode.check!({ name: 'MNIST' }, 'digits')).toEqual([]);
  });

  it('names the files that a cache has to watch', () => {
    const { folders, params } = putImages();
    expect(datasetNode.files!(params, folders as never).map((file) => file.slice(folder.length))).toEqual([
      '/sets/FashionMNIST/raw/train-images-idx3-ubyte',
      '/sets/FashionMNIST/raw/train-labels-idx1-ubyte',
    ]);
  });
});

describe('DatasetBatch', () => {
  it('goes round when it reaches the end', async () => {
    await withDataset('Dataset', putImages(), async (dataset) => {
      expect((await batchOf(dataset, { batch_size: 3, start_index: 6 })).labels.values).toEqual([2, 3, 0]);
    });
  });
});

describe('Transform', () => {
  it('scales to 0 ... 1, and leaves the data set that it was given alone', async () => {
    await withDataset('Dataset', putImages(), async (dataset) => {
      await withDataset('Transform', { inputs: { dataset }, params: { normalize: false } }, async (changed) => {
        expect(rounded((await batchOf(changed)).images.values)).toEqual([
          [
            [
              [0, 0.33333],
              [0.66667, 1],
            ],
          ],
        ]);
        expect(rounded((await batchOf(dataset)).images.values)).toEqual([
          [
            [
              [-1, -0.33333],
              [0.33333, 1],
            ],
          ],
        ]);
      });
    });
  });

  it('resizes, and the last of a chain starts from the images as they were', async () => {
    await withDataset('Dataset', putImages(), async (dataset) => {
      await withDataset(
        'Transform',
        { inputs: { dataset }, params: { resize: 1, normalize: false } },
        async (small) => {
          expect(small.fields[0]!.shape).toEqual([1, 1, 1]);
          // The mean of 0, 85 is 42.5, of 170, 255 it is 212.5: bytes 43 and 213, whose mean is 128.
          expect(rounded((await batchOf(small)).images.values)).toEqual([[[[rounded(128 / 255)]]]]);
          await withDataset('Transform', { inputs: { dataset: small } }, async (again) =>
            expect(again.fields[0]!.shape).toEqual([1, 2, 2]),
          );
        },
      );
    });
  });

  it('does nothing when all is off, and asks for tensors when something is on', async () => {
    await withDataset('Dataset', putImages(), async (dataset) => {
      const off = { to_tensor: false, normalize: false };
      await withDataset('Transform', { inputs: { dataset }, params: off }, async (same) => expect(same).toBe(dataset));
      const resized = runner.runNode('Transform', { inputs: { dataset }, params: { ...off, resize: 2 } });
      await expect(resized).rejects.toThrow(/"to_tensor" must be on/);
    });
  });

  it('takes images only', async () => {
    const inputs = { features: tensor([[1], [2]]) };
    await withDataset('TensorDataset', { inputs }, async (dataset) => {
      await expect(runner.runNode('Transform', { inputs: { dataset } })).rejects.toThrow(/needs a set of images/);
    });
  });
});

describe('DataLoader', () => {
  const rows = (loader: DataLoaderValue): number[][] => Array.from(loader.epoch(), (batch) => Array.from(batch));
  const withLoader = async (
    params: Readonly<Record<string, unknown>>,
    use: (loader: DataLoaderValue) => void,
    seed?: number,
  ): Promise<void> => {
    await withDataset('TensorDataset', { inputs: { features: tensor([[1], [2], [3], [4], [5]]) } }, async (dataset) => {
      const inspect = (_: unknown, result: NodeResult): void => use(output(result, 'dataloader'));
      await runner.runNode('DataLoader', { inputs: { dataset }, params, inspect, ...(seed !== undefined && { seed }) });
    });
  };

  it('deals rows out in order', async () => {
    await withLoader({ batch_size: 2, shuffle: false }, (loader) => {
      expect(rows(loader)).toEqual([[0, 1], [2, 3], [4]]);
      expect(loader.length).toBe(3);
    });
    await withLoader({ batch_size: 2, shuffle: false, drop_last: true }, (loader) => {
      expect(rows(loader)).toEqual([
        [0, 1],
        [2, 3],
      ]);
      expect(loader.length).toBe(2);
    });
  });

  it('shuffles every epoch anew, alike for equal seeds', async () => {
    const epochs: number[][][] = [];
    for (const seed of [7, 7, 8]) {
      await withLoader(
        { batch_size: 2 },
        (loader) => epochs.push([rows(loader).flat(), rows(loader).flat(), rows(loader).flat()]),
        seed,
      );
    }
    expect(epochs[0]).toEqual(epochs[1]);
    expect(epochs[0]).not.toEqual(epochs[2]);
    expect(new Set(epochs[0]!.map(String)).size).toBeGreaterThan(1);
    for (const epoch of epochs.flat()) expect([...epoch].sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('drops the rest of a shuffled epoch too', async () => {
    await withLoader(
      { batch_size: 2, drop_last: true },
      (loader) => expect(rows(loader).map((batch) => batch.length)).toEqual([2, 2]),
      1,
    );
  });

  it('refuses what leaves no batch, and persistent workers without workers', async () => {
    await expect(withLoader({ batch_size: 6, drop_last: true }, () => undefined)).rejects.toThrow(
      /leaves no batch of the 5 rows/,
    );
    await expect(withLoader({ persistent_workers: true }, () => undefined)).rejects.toThrow(/needs num_workers/);
  });
});

describe('TensorDataset', () => {
  const features = tensor([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);

  it('numbers labels in sorted order', async () => {
    const { outputs } = await runner.runNode('TensorDataset', { inputs: { features, labels: ['b', 'a', 'b'] } });
    expect(outputs['classes']).toEqual(['a', 'b']);
    await withDataset('TensorDataset', { inputs: { features, labels: ['b', 'a', 'b'] } }, async (dataset) => {
      const { images, labels } = await batchOf(dataset, { batch_size: 3 });
      expect(images.values).toEqual([
        [1, 2],
        [3, 4],
        [5, 6],
      ]);
      expect(labels).toEqual({ shape: [3], dtype: 'int64', values: [1, 0, 1] });
    });
  });

  it('sorts numbers by their value, and takes the order of others', async () => {
    const numbers = await runner.runNode('TensorDataset', { inputs: { features, labels: ['10', '9', '-1'] } });
    expect(numbers.outputs['classes']).toEqual(['-1', '9', '10']);
    await withDataset(
      'TensorDataset',
      { inputs: { features, labels: ['x', 'x', 'z'], classes: ['z', 'y', 'x'] } },
      async (dataset) => {
        expect((await batchOf(dataset, { batch_size: 3 })).labels.values).toEqual([2, 2, 0]);
      },
    );
  });

  it('takes targets as they are', async () => {
    await withDataset(
      'TensorDataset',
      { inputs: { features, targets: tensor([[0.5], [1], [2]]) } },
      async (dataset) => {
        expect((await batchOf(dataset, { batch_size: 2 })).labels).toEqual({
          shape: [2, 1],
          dtype: 'float32',
          values: [[0.5], [1]],
        });
      },
    );
  });

  it.each<[string, Readonly<Record<string, PortValue>>, RegExp]>([
    ['labels of another length', { labels: ['a'] }, /one entry for each of the 3 rows/],
    ['targets of another length', { targets: tensor([1, 2]) }, /one entry for each of the 3 rows/],
    ['both', { labels: ['a', 'a', 'a'], targets: tensor([1, 2, 3]) }, /give one of the two/],
    [
      'a class that is not listed',
      { labels: ['a', 'b', 'c'], classes: ['a', 'b'] },
      /Row 3 has the label "c", the classes are a, b/,
    ],
  ])('refuses %s', async (_, inputs, message) => {
    await expect(runner.runNode('TensorDataset', { inputs: { features, ...inputs } })).rejects.toThrow(message);
  });
});

describe('CSVReader', () => {
  const read = (text: string, params: Readonly<Record<string, unknown>> = {}, path = 'table.csv') => {
    writeFileSync(join(folder, 'table.csv'), text);
    return runner.runNode('CSVReader', { folders: { files: folder }, params: { path, ...params } });
  };

  it('gives numbers, labels and names', async () => {
    const { outputs } = await read('a,kind,b\n1,x,2\n3,y,4.5\n', { target_column: 'kind' });
    expect(outputs).toEqual({
      tensor: {
        shape: [2, 2],
        dtype: 'float32',
        values: [
          [1, 2],
          [3, 4.5],
        ],
      },
      labels: ['x', 'y'],
      columns: ['a', 'b'],
    });
  });

  it('leaves a target of numbers out of the tensor', async () => {
    const { outputs } = await read('a,b,class\n1,2,0\n3,4,1\n', { target_column: 'class' });
    expect(outputs).toMatchObject({ columns: ['a', 'b'], labels: ['0', '1'] });
  });

  it('takes the columns that are asked for, in that order', async () => {
    const { outputs } = await read('a,b,c\n1,2,3\n', { include_columns: 'c, a' });
    expect(outputs).toMatchObject({ tensor: { values: [[3, 1]] }, columns: ['c', 'a'], labels: [] });
  });

  it('calls columns by number without a header', async () => {
    const { outputs } = await read('1,x\n2,y\n', { skip_header: false, target_column: '1' });
    expect(outputs).toMatchObject({ tensor: { values: [[1], [2]] }, labels: ['x', 'y'], columns: ['0'] });
  });

  it('looks in the folder of examples after that of files', async () => {
    mkdirSync(join(folder, 'examples'));
    writeFileSync(join(folder, 'examples/only.csv'), 'a\n1\n');
    const folders = { files: join(folder, 'files'), examples: join(folder, 'examples') };
    const { outputs } = await runner.runNode('CSVReader', { folders, params: { path: 'only.csv' } });
    expect(outputs['columns']).toEqual(['a']);
  });

  it('says which column a single text keeps out of the tensor', async () => {
    const { outputs, warnings } = await read('a,b,word\n1,2,x\n3,oops,y\n5,6,z\n');
    expect(outputs['columns']).toEqual(['a']);
    expect(warnings.map(({ code, detail }) => [code, detail])).toEqual([
      [
        'column_left_out',
        expect.stringContaining('column "b" is left out, because row 2 holds "oops" there: correct the cell, or name'),
      ],
    ]);
    expect((await read('a,b\n1,2\n3,oops\n5,6\n', { target_column: 'b' })).warnings).toEqual([]);
    expect((await read('a,b\n1,2\n3,oops\n5,6\n', { include_columns: 'a' })).warnings).toEqual([]);
  });

  it('refuses a folder in words', async () => {
    await expect(read('a\n1\n', {}, '.')).rejects.toThrow(/param "path" must name a file, and .* is a folder/);
  });

  it('keeps a target with spaces around its name out of the tensor', async () => {
    const { outputs } = await read('a, y\n1,2', { target_column: 'y' });
    expect([outputs['columns'], outputs['labels']]).toEqual([['a'], ['2']]);
  });

  it.each<[string, string, Readonly<Record<string, unknown>>, string, RegExp]>([
    [
      'a target that is no column',
      'a\n1',
      { target_column: 'b' },
      'table.csv',
      /target_column names the column "b", the table has a/,
    ],
    ['a wanted column of texts', 'a,b\n1,x', { include_columns: 'b' }, 'table.csv', /row 1, column "b" is "x"/],
    ['a table without numbers', 'a\nx', {}, 'table.csv', /no column of numbers/],
    ['a file that is not there', 'a\n1', {}, 'other.csv', /path "other.csv" names no file; looked for .*other.csv/],
    ['a path out of the folder', 'a\n1', {}, '../table.csv', /leads out of the folder of files/],
    ['no path', 'a\n1', {}, ' ', /path is empty/],
  ])('refuses %s', async (_, text, params, path, message) => {
    await expect(read(text, params, path)).rejects.toThrow(message);
  });
});

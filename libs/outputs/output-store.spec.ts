import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { HostTensor } from '@cdui/tensor/runtime';
import fc from 'fast-check';
import { times } from '../../testing/long';
import { OutputStore } from './output-store';
import { OutputWriter } from './output-writer';
import type { RecordedValue } from './recorded-port';
import { parseSlice } from './slices';
import { Captures, floats } from './testing/captures';

const ROOT = join(__dirname, '../..');

describe('recorded outputs', () => {
  let captures: Captures;
  let store: OutputStore;

  beforeEach(() => {
    captures = new Captures();
    store = new OutputStore(captures.root, { statistics: { threshold: 1_000, sample: 100 } });
  });
  afterEach(() => captures.remove());

  const values: readonly RecordedValue[] = [
    { node_id: 'm', port: 'model', type: 'model', class: 'Linear', params: 6, trainable: 6, repr: 'Linear(2, 2)' },
    { node_id: 'm', port: 'loss', type: 'scalar', value: 0.5 },
    { node_id: 'm', port: 'text', type: 'string', value: 'abc', length: 3 },
    { node_id: 'm', port: 'list', type: 'list', length: 2, repr: '[1, 2]', values: [1, 2] },
    { node_id: 'm', port: 'data', type: 'other', class: 'Dataset', repr: 'a data set' },
  ];

  it('are listed with type and shape, without opening a tensor file', async () => {
    captures.record('r1', { 'a.x': floats([2, 3]) }, { values });
    writeFileSync(join(captures.root, 'r1/tensors-1.safetensors'), 'damaged');
    expect(await store.list('r1')).toEqual([
      { node_id: 'a', port: 'x', type: 'tensor', full_shape: [2, 3] },
      { node_id: 'm', port: 'model', type: 'model', full_shape: null },
      { node_id: 'm', port: 'loss', type: 'scalar', full_shape: null },
      { node_id: 'm', port: 'text', type: 'string', full_shape: null },
      { node_id: 'm', port: 'list', type: 'list', full_shape: null },
      { node_id: 'm', port: 'data', type: 'Dataset', full_shape: null },
    ]);
    await expect(store.read('r1', 'a', 'x')).rejects.toMatchObject({ code: 'output_damaged' });
  });

  it('are read back as what they were', async () => {
    captures.record('r1', { 'a.x': floats([2, 3]) }, { values });
    expect(await store.read('r1', 'a', 'x', { slice: '1,::2' })).toEqual({
      node_id: 'a',
      port: 'x',
      type: 'tensor',
      full_shape: [2, 3],
      dtype: 'float32',
      slice: '1,::2',
      sliced_shape: [2],
      values: [3, 5],
      truncated: false,
      min: 3,
      max: 5,
      mean: 4,
    });
    expect(await store.read('r1', 'm', 'model')).toEqual(values[0]);
    expect(await store.read('r1', 'm', 'list')).toEqual(values[3]);
  });

  it('give the same elements as a slice of the whole tensor in memory, whatever the shape, dtype and slice', async () => {
    const axis = fc.oneof(
      fc.constant(':'),
      fc.integer({ min: -1, max: 0 }).map(String),
      fc
        .tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 4 }), fc.constantFrom(-2, -1, 1, 2))
        .map((parts) => parts.join(':')),
    );
    const dtype = fc.constantFrom('float32', 'float64', 'int32', 'int64', 'uint8', 'bool' as const);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), axis), { maxLength: 4 }),
        dtype,
        async (axes, type) => {
          const shape = axes.map(([size]) => size);
          const slice = axes.map(([, part]) => part).join(',');
          const tensor = numbered(shape, type);
          captures.record(`r${(run += 1)}`, { 'a.x': tensor }, { maxRuns: 2 });
          const view = await store.read(`r${run}`, 'a', 'x', { slice });
          const { axes: selected, shape: sliced } = parseSlice(slice, shape);
          expect(view).toMatchObject({ sliced_shape: sliced, full_shape: shape, dtype: type });
          const flat = 'values' in view ? ([view.values] as unknown[]).flat(Infinity as 1) : [];
          expect(flat).toEqual(bySteps(tensor, selected));
        },
      ),
      { numRuns: times(60, 1_000) },
    );
  });

  it('of more elements than a piece are read across its borders', async () => {
    const size = 200_000;
    captures.record('r1', { 'a.x': floats([2, size]) });
    const view = await store.read('r1', 'a', 'x', { slice: `:,::${size / 4}` });
    expect(view).toMatchObject({
      values: [
        [0, 50_000, 100_000, 150_000],
        [200_000, 250_000, 300_000, 350_000],
      ],
    });
    expect(await store.read('r1', 'a', 'x', { slice: '::-1,-1' })).toMatchObject({ values: [399_999, 199_999] });
  });

  it('refuse more than was allowed, and name a slice that fits', async () => {
    captures.record('r1', { 'a.x': floats([100, 100]) });
    await expect(store.read('r1', 'a', 'x')).rejects.toMatchObject({
      code: 'slice_too_large',
      params: { elements: 10_000, max_elements: 4_096 },
      message: expect.stringContaining('":40,:"'),
    });
    expect(await store.read('r1', 'a', 'x', { slice: ':40,:' })).toMatchObject({ sliced_shape: [40, 100] });
    expect(await store.read('r1', 'a', 'x', { maxElements: 10_000 })).toMatchObject({ sliced_shape: [100, 100] });
    for (const maxElements of [0, 1.5, NaN, 1_000_001]) {
      await expect(store.read('r1', 'a', 'x', { maxElements })).rejects.toMatchObject({ code: 'invalid_max_elements' });
    }
  });

  it('show what JSON has no number for as null, and leave it out of the range', async () => {
    captures.record('r1', { 'a.x': floats([4], [1, NaN, -Infinity, 3]), 'a.n': floats([1], [NaN]) });
    expect(await store.read('r1', 'a', 'x')).toMatchObject({ values: [1, null, null, 3], min: 1, max: 3, mean: 2 });
    expect(await store.read('r1', 'a', 'n')).toMatchObject({ values: [null], min: null, max: null, mean: null });
  });

  it('of unknown runs, nodes and ports are refused, saying what there is', async () => {
    captures.record('r1', { 'a.x': floats([1]), 'a.y': floats([1]) });
    for (const run of ['r2', '', '..', '../r1', '.r1-x.partial', 'a/b', 'x'.repeat(300)]) {
      await expect(store.list(run)).rejects.toMatchObject({ code: 'outputs_not_found' });
    }
    await expect(store.read('r1', 'b', 'x')).rejects.toMatchObject({ code: 'output_not_found' });
    await expect(store.read('r1', 'a', 'z')).rejects.toMatchObject({ message: expect.stringContaining('x, y') });
  });

  it('never lead out of their folder, whatever an index says', async () => {
    captures.record('r1', { 'a.x': floats([1]) });
    const secret = join(captures.root, 'keep.txt');
    writeFileSync(secret, 'mine');
    const path = join(captures.root, 'r1/index.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('tensors-1.safetensors', '../keep.txt'));
    await expect(store.read('r1', 'a', 'x')).rejects.toMatchObject({ code: 'output_damaged' });
    await store.delete('r1');
    expect(readFileSync(secret, 'utf8')).toBe('mine');
  });

  it('that are cut or replaced are damaged, each for itself', async () => {
    captures.record('r1', { 'a.x': floats([4]) }, { values });
    truncateSync(join(captures.root, 'r1/tensors-1.safetensors'), 20);
    await expect(store.read('r1', 'a', 'x')).rejects.toMatchObject({ code: 'output_damaged' });
    expect(await store.read('r1', 'm', 'loss')).toMatchObject({ value: 0.5 });
  });

  it('have exact statistics of a small tensor, and sampled ones of a large one', async () => {
    captures.record('r1', {
      'a.x': floats([6], [0, 1, 2, 63, NaN, Infinity]),
      'a.labels': { shape: [4], dtype: 'int64', data: BigInt64Array.of(3n, 1n, 3n, 3n) },
      'a.large': floats([10_000]),
    });
    expect(await store.statistics('r1', 'a', 'x')).toMatchObject({
      count: 6,
      min: 0,
      max: 63,
      mean: 16.5,
      nan: 1,
      inf: 1,
      zero_frac: 1 / 6,
      class_balance: null,
      sampled: false,
    });
    const { histogram } = await store.statistics('r1', 'a', 'x');
    expect(histogram.reduce((sum, count) => sum + count)).toBe(4);
    expect([histogram[0], histogram[1], histogram[63]]).toEqual([1, 1, 1]);
    expect(await store.statistics('r1', 'a', 'labels')).toMatchObject({ class_balance: { 1: 1, 3: 3 } });
    expect(await store.statistics('r1', 'a', 'large')).toMatchObject({
      count: 10_000,
      sampled: true,
      sample_size: 100,
      min: 0,
      max: 9_900,
    });
    captures.record('r2', {}, { values });
    await expect(store.statistics('r2', 'm', 'loss')).rejects.toMatchObject({ code: 'invalid_output_type' });
  });

  it('have their statistics computed once, and anew when the run was recorded anew', async () => {
    captures.record('r1', { 'a.x': floats([2], [1, 2]) });
    const first = await store.statistics('r1', 'a', 'x');
    expect(await store.statistics('r1', 'a', 'x')).toBe(first);
    const index = join(captures.root, 'r1/index.json');
    const before = readFileSync(index, 'utf8');
    // Two records within one millisecond have one time: make it another.
    do captures.record('r1', { 'a.x': floats([2], [5, 6]) });
    while (JSON.parse(before).recorded_at === JSON.parse(readFileSync(index, 'utf8')).recorded_at);
    expect(await store.statistics('r1', 'a', 'x')).toMatchObject({ max: 6 });
  });

  it('know the steps and gradients of a node', async () => {
    const steps = [{ index: 0, name: 'product', description: '', scalars: { n: 1 }, tensor_keys: ['w'] }];
    captures.record(
      'r1',
      {
        'a.x': floats([1]),
        'a.lone': floats([1]),
        'a.x__grad': floats([1]),
        'a.__weight_grad__bias': floats([1]),
        'a.__step__0__w': floats([1]),
        'b.odd__grad': floats([1]),
      },
      { values: [{ node_id: 'a', port: '__steps__', type: 'steps', steps }] },
    );
    expect(await store.steps('r1', 'a')).toEqual(steps);
    expect(await store.steps('r1', 'b')).toEqual([]);
    expect(await store.gradients('r1', 'a')).toEqual([
      { port: 'x', kind: 'port', has_grad: true, health: null },
      { port: 'lone', kind: 'port', has_grad: false, health: null },
      { port: 'bias', kind: 'weight', has_grad: true, health: null },
    ]);
    expect(await store.gradients('r1', 'b')).toEqual([
      { port: 'odd__grad', kind: 'port', has_grad: false, health: null },
    ]);
  });

  describe('within their limits', () => {
    const runs = () => readdirSync(captures.root).sort();

    it('are those of the newest runs', () => {
      for (let run = 10; run < 15; run += 1) {
        captures.record(`r${run}`, { 'a.x': floats([1]) }, { maxRuns: 3 });
        age(`r${run}`, run);
      }
      expect(runs()).toEqual(['r12', 'r13', 'r14']);
    });

    it('lose the oldest runs to the size, never the one just written', () => {
      captures.record('r1', { 'a.x': floats([1_000]) });
      age('r1', 1);
      captures.record('r2', { 'a.x': floats([1_000]) });
      age('r2', 2);
      captures.record('r3', { 'a.x': floats([1_000]) }, { maxBytes: 9_000 });
      expect(runs()).toEqual(['r2', 'r3']);
      captures.record('r4', { 'a.x': floats([100_000]) }, { maxBytes: 9_000 });
      expect(runs()).toEqual(['r4']);
    });

    it('leave alone what is not theirs: other folders, and files of nodes in the same one', async () => {
      mkdirSync(join(captures.root, 'r1'));
      writeFileSync(join(captures.root, 'r1/image.png'), 'png');
      mkdirSync(join(captures.root, 'other'));
      captures.record('r1', { 'a.x': floats([2]) });
      expect(await store.read('r1', 'a', 'x')).toMatchObject({ values: [0, 1] });
      age('r1', 1);
      captures.record('r2', { 'a.x': floats([1]) }, { maxRuns: 1 });
      expect(runs()).toEqual(['other', 'r1', 'r2']);
      expect(readdirSync(join(captures.root, 'r1'))).toEqual(['image.png']);
    });

    it('are removed when they are deleted', async () => {
      captures.record('r1', { 'a.x': floats([1]) });
      expect(await store.delete('r1')).toBe(true);
      expect(await store.delete('r1')).toBe(false);
      expect(runs()).toEqual([]);
    });

    /** Makes captures so many seconds old since 1970. */
    function age(run: string, seconds: number): void {
      const path = join(captures.root, run, 'index.json');
      const index = JSON.parse(readFileSync(path, 'utf8')) as object;
      writeFileSync(path, JSON.stringify({ ...index, recorded_at: new Date(seconds * 1_000).toISOString() }));
    }
  });

  describe('when a process dies', () => {
    it('are not there until all is written', async () => {
      const writer = new OutputWriter({ root: captures.root, runId: 'r1', maxBytes: 1 });
      writeFileSync(writer.tensorFile().path, 'half');
      await expect(store.list('r1')).rejects.toMatchObject({ code: 'outputs_not_found' });
      expect(readdirSync(captures.root)).toHaveLength(1);
      await store.sweep();
      expect(readdirSync(captures.root)).toEqual([]);
    });

    it('leave folders that go after a day', () => {
      const old = new OutputWriter({ root: captures.root, runId: 'old', maxBytes: 1 });
      new OutputWriter({ root: captures.root, runId: 'young', maxBytes: 1 }).tensorFile();
      const [folder] = readdirSync(captures.root).filter((name) => name.startsWith('.old'));
      utimesSync(join(captures.root, folder!), 0, 0);
      captures.record('r1', { 'a.x': floats([1]) });
      expect(readdirSync(captures.root).map((name) => name.replace(/-.*/, ''))).toEqual(['.young', 'r1']);
      old.abandon();
    });

    it('are whole or absent, whenever it is killed', async () => {
      const kills = times(8, 60);
      for (let kill = 0; kill < kills; kill += 1) {
        const child = spawn(process.execPath, ['-e', ENDLESS_WRITER, captures.root], {
          cwd: ROOT,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        // Some records in, at another place of the next each time.
        for (let seen = 0; seen <= kill % 5; seen += 1) await once(child.stdout, 'data');
        child.kill('SIGKILL');
        await once(child, 'exit');
        const runs = readdirSync(captures.root).filter((name) => !name.startsWith('.'));
        expect(runs.length).toBeGreaterThan(0);
        for (const run of runs) {
          const ports = await store.list(run);
          expect(ports).toHaveLength(20);
          for (const { node_id: node, port } of ports) {
            expect(await store.read(run, node, port)).toMatchObject({ sliced_shape: [1_000] });
          }
        }
      }
      await store.sweep();
      captures.record('last', { 'a.x': floats([1]) });
      expect(readdirSync(captures.root).filter((name) => name.startsWith('.'))).toEqual([]);
    });
  });

  it('that cannot be written say why and leave nothing', () => {
    appendFileSync(join(captures.root, 'file'), '');
    const make = () => new OutputWriter({ root: join(captures.root, 'file'), runId: 'r1', maxBytes: 1 });
    expect(make).toThrow(
      expect.objectContaining({ code: 'outputs_not_written', message: expect.stringContaining('r1') }),
    );
    const writer = new OutputWriter({ root: captures.root, runId: 'r1', maxBytes: 1 });
    writer.add({ node_id: 'a', port: 'x', type: 'tensor', full_shape: [], dtype: 'float32', ...missing(writer) });
    expect(() => writer.commit()).toThrow(expect.objectContaining({ code: 'outputs_not_written' }));
    expect(existsSync(join(captures.root, 'r1'))).toBe(false);
    expect(readdirSync(captures.root)).toEqual(['file']);
  });
});

function missing(writer: OutputWriter): { file: string; tensor: string } {
  return { file: writer.tensorFile().name, tensor: '0' };
}

/** Records runs until it is killed, over and over under ten names. */
const ENDLESS_WRITER = `
const { OutputWriter } = require('./dist/libs/outputs');
const { writeSafetensors } = require('./dist/libs/tensor/files');
for (let run = 0; ; run += 1) {
  const writer = new OutputWriter({ root: process.argv[1], runId: 'r' + (run % 10), maxBytes: 2 ** 31, maxRuns: 5 });
  for (let file = 0; file < 2; file += 1) {
    const { name, path } = writer.tensorFile();
    const tensors = {};
    for (let at = 0; at < 10; at += 1) {
      tensors[at] = { shape: [1000], dtype: 'float32', data: new Float32Array(1000) };
      writer.add({ node_id: 'n' + file, port: 'p' + at, type: 'tensor', full_shape: [1000], dtype: 'float32', file: name, tensor: String(at) });
    }
    writeSafetensors(path, tensors);
  }
  writer.commit();
  writer.enforceLimits();
  process.stdout.write('.');
}`;

function numbered(shape: readonly number[], dtype: HostTensor['dtype']): HostTensor {
  const length = shape.reduce((product, size) => product * size, 1);
  const values = Array.from({ length }, (_, index) => (dtype === 'bool' ? index % 2 : index));
  switch (dtype) {
    case 'int64':
      return { shape, dtype, data: BigInt64Array.from(values, BigInt) };
    case 'float64':
      return { shape, dtype, data: Float64Array.from(values) };
    case 'int32':
      return { shape, dtype, data: Int32Array.from(values) };
    case 'float32':
      return { shape, dtype, data: Float32Array.from(values) };
    default:
      return { shape, dtype, data: Uint8Array.from(values) };
  }
}

/** The selected elements, found index by index. */
function bySteps(tensor: HostTensor, axes: readonly { start: number; step: number; count: number }[]): unknown[] {
  const data = tensor.data as unknown as ArrayLike<number | bigint>;
  let offsets = [0];
  for (const [axis, { start, step, count }] of axes.entries()) {
    const stride = tensor.shape.slice(axis + 1).reduce((product, size) => product * size, 1);
    offsets = offsets.flatMap((offset) =>
      Array.from({ length: count }, (_, at) => offset + (start + at * step) * stride),
    );
  }
  return offsets.map((offset) => (tensor.dtype === 'bool' ? Boolean(data[offset]) : Number(data[offset])));
}

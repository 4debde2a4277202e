import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@cdui/protocol';
import fc from 'fast-check';
import { times } from '../../../testing/long';
import type { DType, HostTensor } from '../runtime';
import { joinStates, readSafetensors, readSafetensorsHeader, replaceFile, splitStates, writeSafetensors } from '.';

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

const tensor: fc.Arbitrary<HostTensor> = fc
  .record({
    dtype: fc.constantFrom(...(Object.keys(ARRAYS) as DType[])),
    shape: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }),
    seed: fc.integer({ min: 0, max: 200 }),
  })
  .map(({ dtype, shape, seed }) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const values = Array.from({ length }, (_, i) => (dtype === 'bool' ? (seed + i) % 2 : (seed + i) % 251));
    const data = dtype === 'int64' ? BigInt64Array.from(values, BigInt) : ARRAYS[dtype as 'uint8'].from(values);
    return { dtype, shape, data };
  });

describe('safetensors', () => {
  let folder: string;
  let path: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-safetensors-'));
    path = join(folder, 'file.safetensors');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A file of this header and so many bytes of data. */
  const write = (header: unknown, dataBytes = 0, claimed?: bigint) => {
    const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(claimed ?? BigInt(text.length));
    writeFileSync(path, Buffer.concat([length, text, Buffer.alloc(dataBytes)]));
  };
  const refusal = (): CodedError => {
    try {
      readSafetensors(path);
    } catch (error) {
      if (error instanceof CodedError) return error;
      throw error;
    }
    throw new Error('it was accepted');
  };

  it('gives back what was written, whatever the names, types and shapes', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), tensor, { maxKeys: 6 }),
        fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
        (tensors, metadata) => {
          const { bytes, sha256 } = writeSafetensors(path, tensors, metadata);
          const file = readFileSync(path);
          expect([bytes, sha256]).toEqual([file.length, createHash('sha256').update(file).digest('hex')]);
          const read = readSafetensors(path);
          expect({ ...read.metadata }).toEqual({ ...metadata });
          expect(Object.keys(read.tensors).sort()).toEqual(Object.keys(tensors).sort());
          for (const [name, { dtype, shape, data }] of Object.entries(tensors)) {
            expect(read.tensors[name]).toEqual({ dtype, shape, data });
          }
        },
      ),
      { numRuns: times(100, 2000) },
    );
  });

  it('aligns every tensor, so that other readers may map the file', () => {
    writeSafetensors(path, {
      a: { shape: [3], dtype: 'bool', data: Uint8Array.of(1, 0, 1) },
      b: { shape: [1], dtype: 'float32', data: Float32Array.of(2) },
      c: { shape: [1], dtype: 'int64', data: BigInt64Array.of(3n) },
    });
    expect(readSafetensorsHeader(path).tensors.map(({ name, begin }) => [name, begin])).toEqual([
      ['c', 0],
      ['b', 8],
      ['a', 12],
    ]);
    expect(readFileSync(path).readBigUInt64LE(0) % 8n).toBe(0n);
  });

  it('widens the types that only files have', () => {
    const bytes = { F16: [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c], BF16: [0x80, 0x3f, 0x00, 0xc0] };
    const header = {
      h: { dtype: 'F16', shape: [4], data_offsets: [0, 8] },
      b: { dtype: 'BF16', shape: [2], data_offsets: [8, 12] },
      i: { dtype: 'I8', shape: [2], data_offsets: [12, 14] },
      u: { dtype: 'U16', shape: [1], data_offsets: [14, 16] },
    };
    write(header, 16);
    const file = readFileSync(path);
    file.set([...bytes.F16, ...bytes.BF16, 0xff, 0x01, 0xff, 0xff], file.length - 16);
    writeFileSync(path, file);
    const { tensors } = readSafetensors(path);
    expect(tensors['h']).toEqual({ dtype: 'float32', shape: [4], data: Float32Array.of(1, -2, 2 ** -24, Infinity) });
    expect(tensors['b']).toEqual({ dtype: 'float32', shape: [2], data: Float32Array.of(1, -2) });
    expect(tensors['i']).toEqual({ dtype: 'int32', shape: [2], data: Int32Array.of(-1, 1) });
    expect(tensors['u']).toEqual({ dtype: 'int32', shape: [1], data: Int32Array.of(65535) });
  });

  const f32 = (shape: unknown, data_offsets: unknown, dtype: unknown = 'F32') => ({ dtype, shape, data_offsets });
  it.each<[string, unknown, number, RegExp]>([
    ['an overlap', { a: f32([1], [0, 4]), b: f32([1], [0, 4]) }, 4, /overlap/],
    ['a partial overlap', { a: f32([2], [0, 8]), b: f32([1], [4, 8]) }, 8, /overlap/],
    ['a gap', { a: f32([1], [0, 4]), b: f32([1], [8, 12]) }, 12, /gap/],
    ['bytes that belong to nothing', { a: f32([1], [0, 4]) }, 8, /take 4 bytes, 8 follow/],
    ['too few bytes', { a: f32([2], [0, 8]) }, 4, /take 8 bytes, 4 follow/],
    ['a size that is not the shape', { a: f32([2], [0, 4]) }, 4, /takes 8 bytes, its data_offsets give 4/],
    ['a shape beyond all memory', { a: f32([2 ** 50, 2 ** 50], [0, 4]) }, 4, /data_offsets give 4/],
    ['a negative size', { a: f32([-1], [0, 4]) }, 4, /not a list of whole numbers/],
    ['a fraction', { a: f32([0.5], [0, 2]) }, 2, /not a list of whole numbers/],
    ['offsets the wrong way round', { a: f32([1], [4, 0]) }, 4, /not \[begin, end\]/],
    ['an unknown type', { a: f32([1], [0, 4], 'F128') }, 4, /"F128"; known: BOOL/],
    ['a type from the prototype', { a: f32([1], [0, 4], 'constructor') }, 4, /"constructor"/],
    ['metadata that is not text', { __metadata__: { a: 1 } }, 0, /not an object of strings/],
    ['an entry that is not an object', { a: [1] }, 0, /not described by an object/],
    ['a header that is a list', [1], 0, /not an object/],
    ['a header that is not JSON', '{"a":', 0, /not JSON/],
  ])('refuses %s', (_, header, dataBytes, message) => {
    write(header, dataBytes);
    expect(refusal()).toMatchObject({
      code: 'invalid_safetensors',
      message: expect.stringMatching(message),
      params: { file: path },
    });
  });

  it('refuses lengths that cannot be, without reading or reserving anything', () => {
    write('{}', 0, 2n ** 63n);
    expect(refusal().message).toMatch(/claims 9223372036854775808 bytes, the format allows 100000000/);
    write('{}', 0, 1000n);
    expect(refusal().message).toMatch(/claims 1000 bytes, only 2 follow/);
    writeFileSync(path, 'abc');
    expect(refusal().message).toMatch(/it has 3 bytes/);
    writeFileSync(path, '');
    expect(refusal().code).toBe('invalid_safetensors');
  });

  it('answers every mutilated file with a file or a coded error', () => {
    writeSafetensors(
      path,
      {
        a: { shape: [2], dtype: 'float32', data: Float32Array.of(1, 2) },
        b: { shape: [1], dtype: 'bool', data: Uint8Array.of(1) },
      },
      { k: 'v' },
    );
    const whole = readFileSync(path);
    const edits = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    let refused = 0;
    fc.assert(
      fc.property(edits, fc.nat(whole.length), fc.boolean(), (changes, length, cut) => {
        const bytes = Buffer.from(cut ? whole.subarray(0, length) : whole);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        writeFileSync(path, bytes);
        try {
          readSafetensors(path);
        } catch (error) {
          expect(error).toBeInstanceOf(CodedError);
          refused++;
        }
      }),
      { numRuns: times(1000, 50_000) },
    );
    expect(refused).toBeGreaterThan(100);
  });

  it('survives names that mean something to JavaScript', () => {
    writeSafetensors(
      path,
      Object.fromEntries([['__proto__', { shape: [], dtype: 'float32', data: Float32Array.of(4) }]]),
    );
    const { tensors } = readSafetensors(path);
    expect(Object.keys(tensors)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it('leaves the old file and no partial one when writing fails', () => {
    writeFileSync(path, 'old');
    expect(() =>
      replaceFile(path, () => {
        throw new Error('disk full');
      }),
    ).toThrow(expect.objectContaining({ code: 'file_unwritable', message: expect.stringContaining('disk full') }));
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file.safetensors']);
    expect(() => readSafetensors(folder)).toThrow(expect.objectContaining({ code: 'file_unreadable' }));
  });
});

describe('states in a file', () => {
  const one = (value: number): HostTensor => ({ shape: [], dtype: 'float32', data: Float32Array.of(value) });
  const shown = (states: Readonly<Record<string, Readonly<Record<string, HostTensor>>>>) =>
    Object.fromEntries(Object.entries(states).map(([name, tensors]) => [name, { ...tensors }]));

  it('come apart as they were put together', () => {
    const states = {
      model: { 'a.weight': one(1), 'b/c': one(2) },
      optimizer: { 'exp_avg.a.weight': one(3) },
      empty: {},
    };
    const split = splitStates(joinStates(states, { note: 'x' }));
    expect(shown(split.states)).toEqual(states);
    expect(split.metadata).toEqual({ note: 'x' });
  });

  it('are one model where another program wrote the file', () => {
    const split = splitStates({ tensors: { 'x/y': one(1), z: one(2) }, metadata: { format: 'pt' } });
    expect(shown(split.states)).toEqual({ model: { 'x/y': one(1), z: one(2) } });
    expect(split.metadata).toEqual({ format: 'pt' });
  });

  it('refuse names that would be mixed up', () => {
    const mixed = () => joinStates({ model: { 'optimizer/a': one(1) }, optimizer: { a: one(2) } }, {});
    expect(mixed).toThrow(expect.objectContaining({ code: 'invalid_argument', params: { name: 'optimizer/a' } }));
    expect(() => joinStates({}, { states: '' })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});

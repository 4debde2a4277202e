import { CodedError } from '@cdui/protocol';

/** Element types of the safetensors format. */
export type FileDType =
  'BOOL' | 'U8' | 'I8' | 'I16' | 'U16' | 'F16' | 'BF16' | 'I32' | 'U32' | 'F32' | 'F64' | 'I64' | 'U64';

export const FILE_DTYPE_BYTES: Readonly<Record<FileDType, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  I16: 2,
  U16: 2,
  F16: 2,
  BF16: 2,
  I32: 4,
  U32: 4,
  F32: 4,
  F64: 8,
  I64: 8,
  U64: 8,
};

/** The header may be at most this long, as in the reference implementation. */
export const MAX_HEADER_BYTES = 100_000_000;
export const PREFIX_BYTES = 8;
const METADATA = '__metadata__';

/** One tensor of a file; `begin` and `end` are bytes counted from the end of the header. */
export interface FileTensor {
  readonly name: string;
  readonly dtype: FileDType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  readonly tensors: readonly FileTensor[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Where the tensors' bytes begin in the file. */
  readonly dataStart: number;
}

export function damagedFile(file: string, what: string): CodedError {
  return new CodedError('invalid_safetensors', `${file} is not a valid safetensors file: ${what}`, { file });
}

/**
 * The length of the header as the first eight bytes give it.
 * @throws CodedError `invalid_safetensors` when it is not possible in a file of `fileBytes`
 */
export function headerLength(prefix: Uint8Array, fileBytes: number, file: string): number {
  if (prefix.length < PREFIX_BYTES)
    throw damagedFile(file, `it has ${fileBytes} bytes, the header's length alone takes 8`);
  const length = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES) {
    throw damagedFile(file, `its header claims ${length} bytes, the format allows ${MAX_HEADER_BYTES}`);
  }
  if (Number(length) > fileBytes - PREFIX_BYTES) {
    throw damagedFile(file, `its header claims ${length} bytes, only ${fileBytes - PREFIX_BYTES} follow`);
  }
  return Number(length);
}

/**
 * Reads and checks a header: types, sizes, and that the tensors cover the rest of the file without gap or overlap.
 * @throws CodedError `invalid_safetensors`
 */
export function parseHeader(bytes: Uint8Array, fileBytes: number, file: string): SafetensorsHeader {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw damagedFile(file, 'its header is not JSON in UTF-8');
  }
  if (!isObject(parsed)) throw damagedFile(file, 'its header is not an object');
  const dataStart = PREFIX_BYTES + bytes.length;
  const tensors: FileTensor[] = [];
  let metadata: Record<string, string> = {};
  for (const [name, entry] of Object.entries(parsed)) {
    if (name === METADATA) metadata = readMetadata(entry, file);
    else tensors.push(readEntry(name, entry, file));
  }
  checkCover(tensors, fileBytes - dataStart, file);
  return { tensors, metadata, dataStart };
}

function readMetadata(entry: unknown, file: string): Record<string, string> {
  if (!isObject(entry) || !Object.values(entry).every((value) => typeof value === 'string')) {
    throw damagedFile(file, `its ${METADATA} is not an object of strings`);
  }
  // A null prototype, so that a key like __proto__ is an ordinary one.
  return Object.assign(Object.create(null) as Record<string, string>, entry);
}

function readEntry(name: string, entry: unknown, file: string): FileTensor {
  const where = `tensor ${JSON.stringify(name.slice(0, 200))}`;
  if (!isObject(entry)) throw damagedFile(file, `${where} is not described by an object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string' || !Object.hasOwn(FILE_DTYPE_BYTES, dtype)) {
    throw damagedFile(
      file,
      `${where} has the dtype ${JSON.stringify(dtype)}; known: ${Object.keys(FILE_DTYPE_BYTES).join(', ')}`,
    );
  }
  if (!isSizes(shape)) throw damagedFile(file, `${where} has a shape that is not a list of whole numbers`);
  if (!isSizes(offsets) || offsets.length !== 2 || offsets[0]! > offsets[1]!) {
    throw damagedFile(file, `${where} has data_offsets that are not [begin, end]`);
  }
  const [begin, end] = offsets as [number, number];
  const wanted = shape.reduce((product, size) => product * size, FILE_DTYPE_BYTES[dtype as FileDType]);
  if (wanted !== end - begin) {
    throw damagedFile(
      file,
      `${where} of shape [${shape.join(', ')}] and dtype ${dtype} takes ${wanted} bytes, its data_offsets give ${end - begin}`,
    );
  }
  return { name, dtype: dtype as FileDType, shape, begin, end };
}

function checkCover(tensors: readonly FileTensor[], dataBytes: number, file: string): void {
  let at = 0;
  for (const { name, begin, end } of [...tensors].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== at) {
      throw damagedFile(
        file,
        `the bytes of tensor ${JSON.stringify(name.slice(0, 200))} ${begin < at ? 'overlap' : 'leave a gap after'} the one before`,
      );
    }
    at = end;
  }
  if (at !== dataBytes) throw damagedFile(file, `its tensors take ${at} bytes, ${dataBytes} follow the header`);
}

/**
 * The start of a file: length and header, padded so that the tensors' bytes begin at a multiple of 8. The widest element types come first,
 * so that each tensor is aligned.
 */
export function buildHeader(
  tensors: readonly {
    readonly name: string;
    readonly dtype: FileDType;
    readonly shape: readonly number[];
    readonly bytes: number;
  }[],
  metadata: Readonly<Record<string, string>>,
): { readonly head: Uint8Array; readonly order: readonly number[] } {
  const order = tensors
    .map((_, at) => at)
    .sort((a, b) => FILE_DTYPE_BYTES[tensors[b]!.dtype] - FILE_DTYPE_BYTES[tensors[a]!.dtype] || a - b);
  const entries: [string, unknown][] = Object.keys(metadata).length ? [[METADATA, metadata]] : [];
  const seen = new Set<string>([METADATA]);
  let at = 0;
  for (const index of order) {
    const { name, dtype, shape, bytes } = tensors[index]!;
    if (seen.has(name))
      throw new CodedError(
        'invalid_argument',
        `a safetensors file cannot hold two tensors named ${JSON.stringify(name)}`,
        { name },
      );
    seen.add(name);
    entries.push([name, { dtype, shape, data_offsets: [at, at + bytes] }]);
    at += bytes;
  }
  const json = new TextEncoder().encode(
    `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
  );
  const padded = Math.ceil(json.length / 8) * 8;
  if (padded > MAX_HEADER_BYTES) {
    throw new CodedError(
      'invalid_argument',
      `the header of the safetensors file would take ${padded} bytes, the format allows ${MAX_HEADER_BYTES}`,
      {},
    );
  }
  const head = new Uint8Array(PREFIX_BYTES + padded).fill(0x20);
  new DataView(head.buffer).setBigUint64(0, BigInt(padded), true);
  head.set(json, PREFIX_BYTES);
  return { head, order };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

import { CodedError } from '@cdui/protocol';

/** A table of unsigned bytes as the IDX format holds it: sizes of the dimensions, then the values, row-major. */
export interface IdxTable {
  readonly shape: readonly number[];
  /** A view of the input, not a copy. */
  readonly data: Uint8Array;
}

const UNSIGNED_BYTE = 0x08;
const MAX_DIMENSIONS = 4;

/**
 * Reads an IDX file of unsigned bytes (the format of the MNIST family): two zero bytes, the element type, the number of
 * dimensions, one big-endian u32 per dimension, then the values. The declared sizes are believed only as far as the bytes
 * that are really there, so a damaged or hostile header costs nothing.
 *
 * @param source name of the file, for messages
 * @throws CodedError `invalid_data_file`
 */
export function parseIdx(bytes: Uint8Array, source: string): IdxTable {
  if (bytes.length < 4) {
    throw damaged(source, `it has ${bytes.length} bytes, an IDX file has at least 4`);
  }
  if (bytes[0] !== 0 || bytes[1] !== 0) {
    throw damaged(source, 'it does not start with the two zero bytes of an IDX file');
  }
  if (bytes[2] !== UNSIGNED_BYTE) {
    throw damaged(source, `its element type is 0x${hex(bytes[2]!)}, only unsigned bytes (0x08) are read`);
  }
  const dimensions = bytes[3]!;
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
    throw damaged(source, `it declares ${dimensions} dimensions, 1 to ${MAX_DIMENSIONS} are possible`);
  }
  const start = 4 + 4 * dimensions;
  if (bytes.length < start) {
    throw damaged(source, `its header of ${start} bytes is cut off after ${bytes.length}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shape = Array.from({ length: dimensions }, (_, i) => view.getUint32(4 + 4 * i));
  const held = bytes.length - start;
  // Products of four u32 leave the exact range of a double, but only far above any number of bytes a file can hold.
  const declared = shape.reduce((product, size) => product * size, 1);
  if (declared !== held) {
    throw damaged(source, `its header declares ${shape.join(' x ')} values, ${held} bytes follow`);
  }
  return { shape, data: bytes.subarray(start) };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function damaged(source: string, what: string): CodedError {
  return new CodedError('invalid_data_file', `${source} is not a readable IDX file: ${what}. Fetch the file again`, {
    file: source,
  });
}

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { CodedError } from '@cdui/protocol';
import type { DType, HostTensor } from '../runtime';
import {
  buildHeader,
  damagedFile,
  headerLength,
  parseHeader,
  PREFIX_BYTES,
  type FileDType,
  type SafetensorsHeader,
} from './safetensors-header';
import { fromFile } from './safetensors-convert';

const CHUNK = 8 * 1024 * 1024;
const FILE_DTYPES: Readonly<Record<DType, FileDType>> = {
  float32: 'F32',
  float64: 'F64',
  int32: 'I32',
  int64: 'I64',
  uint8: 'U8',
  bool: 'BOOL',
};

export interface SafetensorsFile {
  /** In the file's order. Float16 and bfloat16 come as float32, narrow integers as int32 or int64. */
  readonly tensors: Readonly<Record<string, HostTensor>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Reads a whole file. Each tensor gets memory of its own, so that one can be handed on without the others.
 * @throws CodedError `invalid_safetensors` for a damaged or hostile file, `file_unreadable` when it cannot be opened
 */
export function readSafetensors(path: string): SafetensorsFile {
  const file = openFile(path);
  try {
    const fileBytes = fstatSync(file).size;
    const prefix = readAt(file, 0, Math.min(PREFIX_BYTES, fileBytes), path);
    const head = readAt(file, PREFIX_BYTES, headerLength(prefix, fileBytes, path), path);
    const header = parseHeader(head, fileBytes, path);
    // A null prototype, so that a tensor named __proto__ is an ordinary one.
    const tensors = Object.create(null) as Record<string, HostTensor>;
    for (const tensor of [...header.tensors].sort((a, b) => a.begin - b.begin)) {
      tensors[tensor.name] = fromFile(
        tensor,
        readAt(file, header.dataStart + tensor.begin, tensor.end - tensor.begin, path),
      );
    }
    return { tensors, metadata: header.metadata };
  } finally {
    closeSync(file);
  }
}

/**
 * What a file holds, and where, without reading the tensors' bytes.
 * @throws CodedError `invalid_safetensors`, `file_unreadable`
 */
export function readSafetensorsHeader(path: string): SafetensorsHeader {
  const file = openFile(path);
  try {
    const fileBytes = fstatSync(file).size;
    const prefix = readAt(file, 0, Math.min(PREFIX_BYTES, fileBytes), path);
    return parseHeader(readAt(file, PREFIX_BYTES, headerLength(prefix, fileBytes, path), path), fileBytes, path);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes tensors to a file, durably and atomically: to a neighbour first, flushed, then renamed over `path`.
 * @throws CodedError `file_unwritable`; no partial file is left behind
 */
export function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, HostTensor>>,
  metadata: Readonly<Record<string, string>> = {},
): { bytes: number; sha256: string } {
  const entries = Object.entries(tensors);
  const { head, order } = buildHeader(
    entries.map(([name, { dtype, shape, data }]) => ({
      name,
      dtype: FILE_DTYPES[dtype],
      shape,
      bytes: data.byteLength,
    })),
    metadata,
  );
  return replaceFile(path, (file) => {
    const hash = createHash('sha256');
    let bytes = 0;
    const write = (part: Uint8Array) => {
      for (let at = 0; at < part.length; at += CHUNK) {
        const chunk = part.subarray(at, at + CHUNK);
        hash.update(chunk);
        for (let done = 0; done < chunk.length;) done += writeSync(file, chunk, done);
      }
      bytes += part.length;
    };
    write(head);
    for (const index of order) {
      const { data } = entries[index]![1];
      write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    }
    return { bytes, sha256: hash.digest('hex') };
  });
}

/**
 * Lets `write` fill a file beside `path`, makes it durable and renames it into place: afterwards `path` holds the old file or the new
 * one, whole, whatever happens in between.
 * @throws CodedError `file_unwritable`
 */
export function replaceFile<T>(path: string, write: (file: number) => T): T {
  const partial = `${path}.${randomBytes(6).toString('hex')}.partial`;
  try {
    const file = openSync(partial, 'wx', 0o644);
    let result: T;
    try {
      result = write(file);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
    syncFolder(dirname(path));
    return result;
  } catch (error) {
    rmSync(partial, { force: true });
    if (error instanceof CodedError) throw error;
    throw new CodedError(
      'file_unwritable',
      `cannot write ${path}: ${(error as Error).message}`,
      { file: path },
      { cause: error },
    );
  }
}

function syncFolder(folder: string): void {
  // Windows does not open folders; there a rename is durable without it.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function openFile(path: string): number {
  let file: number;
  try {
    // A named pipe would be waited for.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new CodedError(
      'file_unreadable',
      `cannot read ${path}: ${(error as Error).message}`,
      { file: path },
      { cause: error },
    );
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new CodedError('file_unreadable', `cannot read ${path}: it is not a file`, { file: path });
}

function readAt(file: number, position: number, length: number, path: string): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const read = readSync(file, bytes, at, Math.min(CHUNK, length - at), position + at);
    if (read === 0) throw damagedFile(path, `it ends ${length - at} bytes early`);
    at += read;
  }
  return bytes;
}

import { open, type FileHandle } from 'node:fs/promises';
import { readSafetensorsHeader, type FileTensor } from '@cdui/tensor/files';
import { fromFile } from '@cdui/tensor/files/safetensors-convert';
import { damaged } from './run-index';
import type { Selection } from './slices';

type Elements = { readonly [index: number]: number | bigint; readonly length: number };

/** Elements that are in memory at once: 256 KiB of float32, some tenths of a millisecond of work between two waits. */
const CHUNK = 64 * 1024;

/** One tensor of a safetensors file, read in pieces: a large tensor is never in memory, and whoever reads never holds up others for long. */
export class TensorFile {
  private chunk: Elements = [];
  private begin = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    private readonly tensor: FileTensor,
    private readonly dataStart: number,
  ) {}

  /** @throws CodedError `output_damaged` when the file is gone, cut or holds something else */
  static async open(path: string, name: string, shape: readonly number[]): Promise<TensorFile> {
    const { tensor, dataStart } = find(path, name);
    if (!tensor) throw damaged(path, `there is no tensor "${name}" in it`);
    if (tensor.shape.join() !== shape.join()) {
      throw damaged(path, `tensor "${name}" is [${tensor.shape.join(', ')}], not [${shape.join(', ')}]`);
    }
    return new TensorFile(path, await open(path, 'r'), tensor, dataStart);
  }

  get length(): number {
    return this.tensor.shape.reduce((product, size) => product * size, 1);
  }

  /** Calls `visit` with each selected element, row-major. */
  async select({ axes, elements }: Selection, visit: (value: number) => void): Promise<void> {
    if (elements === 0) return;
    const strides = axes.map((_, axis) =>
      this.tensor.shape.slice(axis + 1).reduce((product, size) => product * size, 1),
    );
    const counters = axes.map(() => 0);
    let at = axes.reduce((sum, { start }, axis) => sum + start * strides[axis]!, 0);
    for (let done = 0; done < elements; done += 1) {
      if (!this.holds(at)) await this.load(at);
      visit(Number(this.chunk[at - this.begin]));
      for (let axis = axes.length - 1; axis >= 0; axis -= 1) {
        const { step, count } = axes[axis]!;
        counters[axis]! += 1;
        at += step * strides[axis]!;
        if (counters[axis]! < count) break;
        at -= count * step * strides[axis]!;
        counters[axis] = 0;
      }
    }
  }

  /** Calls `visit` with so many elements, evenly spaced; with all of them when there are no more. */
  async sample(size: number, visit: (value: number) => void): Promise<void> {
    const { length } = this;
    const count = Math.min(size, length);
    const stride = count === 0 ? 0 : length / count;
    for (let index = 0; index < count; index += 1) {
      const at = Math.floor(index * stride);
      if (!this.holds(at)) await this.load(at);
      visit(Number(this.chunk[at - this.begin]));
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private holds(at: number): boolean {
    return at >= this.begin && at < this.begin + this.chunk.length;
  }

  private async load(at: number): Promise<void> {
    const { tensor, dataStart, path } = this;
    const begin = at - (at % CHUNK);
    const count = Math.min(CHUNK, this.length - begin);
    const size = (tensor.end - tensor.begin) / this.length;
    const bytes = new Uint8Array(count * size);
    for (let done = 0; done < bytes.length;) {
      const position = dataStart + tensor.begin + begin * size + done;
      const { bytesRead } = await this.file.read(bytes, done, bytes.length - done, position);
      if (bytesRead === 0) throw damaged(path, `it ends ${bytes.length - done} bytes early`);
      done += bytesRead;
    }
    this.chunk = fromFile({ dtype: tensor.dtype, shape: [count] }, bytes).data as unknown as Elements;
    this.begin = begin;
  }
}

function find(path: string, name: string): { readonly tensor: FileTensor | undefined; readonly dataStart: number } {
  try {
    const { tensors, dataStart } = readSafetensorsHeader(path);
    return { tensor: tensors.find((tensor) => tensor.name === name), dataStart };
  } catch (error) {
    throw damaged(path, error instanceof Error ? error.message : String(error));
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSafetensors } from '@cdui/tensor/files';
import type { HostTensor } from '@cdui/tensor/runtime';
import { OutputWriter } from '../output-writer';
import type { RecordedPort, RecordedValue } from '../recorded-port';

/** Captures in a temporary folder. */
export class Captures {
  readonly root = mkdtempSync(join(tmpdir(), 'cdui-outputs-'));

  /** Records tensors by `node.port`, all in one file, and plain values. */
  record(
    runId: string,
    tensors: Readonly<Record<string, HostTensor>>,
    {
      values = [],
      maxBytes = 2 ** 31,
      maxRuns,
    }: { values?: readonly RecordedValue[]; maxBytes?: number; maxRuns?: number } = {},
  ): void {
    const writer = new OutputWriter({ root: this.root, runId, maxBytes, ...(maxRuns !== undefined && { maxRuns }) });
    const file = writer.tensorFile();
    writeSafetensors(file.path, tensors);
    for (const [name, tensor] of Object.entries(tensors)) writer.add(tensorPort(name, tensor, file.name));
    for (const value of values) writer.add(value);
    writer.commit();
    writer.enforceLimits();
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function tensorPort(name: string, { shape, dtype }: HostTensor, file: string): RecordedPort {
  const at = name.indexOf('.');
  return {
    node_id: name.slice(0, at),
    port: name.slice(at + 1),
    type: 'tensor',
    full_shape: shape,
    dtype,
    file,
    tensor: name,
  };
}

export function floats(shape: readonly number[], values?: readonly number[]): HostTensor {
  const length = shape.reduce((product, size) => product * size, 1);
  return { shape, dtype: 'float32', data: Float32Array.from(values ?? Array.from({ length }, (_, index) => index)) };
}

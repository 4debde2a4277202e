import type { DatasetValue } from '@cdui/node-sdk';
import type { Batch, Handle, TensorRef } from '@cdui/tensor/runtime';

/** One field of a set: its rows lie in the runtime, one per index of dimension 0. */
export interface ResidentField {
  readonly name: string;
  readonly tensor: TensorRef;
  /** Applied in the runtime to a field stored as bytes: value * scale + shift. */
  readonly affine?: { readonly scale: number; readonly shift: number };
}

/** Where a Transform starts from: the images as they were loaded, before any transform. */
export interface RawImages {
  /** uint8 `[N, C, H, W]`. */
  readonly tensor: TensorRef;
}

/** Bytes to 0 ... 1, as ToTensor does. */
export const TO_TENSOR = { scale: 1 / 255, shift: 0 };
/** ToTensor, then Normalize(mean 0.5, standard deviation 0.5): -1 ... 1. */
export const TO_TENSOR_NORMALIZED = { scale: 2 / 255, shift: -1 };

/**
 * A data set whose rows lie in the runtime, so that a batch is a list of indices. Immutable: transforms make another set that shares the
 * tensors.
 */
export class ResidentDataset implements DatasetValue {
  readonly kind = 'dataset';
  readonly length: number;
  readonly fields: DatasetValue['fields'];
  readonly affine: DatasetValue['affine'];
  private readonly from: Readonly<Record<string, TensorRef>>;

  /** @param fields the input first, then the target, if any; all with the same number of rows */
  constructor(
    readonly name: string,
    private readonly columns: readonly ResidentField[],
    readonly classes: readonly string[] | null,
    readonly raw: RawImages | null = null,
  ) {
    this.length = columns[0]?.tensor.shape[0] ?? 0;
    this.fields = columns.map(({ name: field, tensor }) => ({
      name: field,
      shape: tensor.shape.slice(1),
      dtype: tensor.dtype === 'int64' ? 'int64' : 'float32',
    }));
    this.affine = Object.fromEntries(
      columns.flatMap((column) => (column.affine ? [[column.name, column.affine]] : [])),
    );
    this.from = Object.fromEntries(columns.map((column) => [column.name, column.tensor]));
  }

  handles(): readonly Handle[] {
    const handles = new Set<Handle>(this.columns.map((column) => column.tensor));
    if (this.raw) handles.add(this.raw.tensor);
    return [...handles];
  }

  batch(rows: Int32Array): Batch {
    return { rows, from: this.from };
  }

  /** The tensor of a field, all rows. */
  field(name: string): TensorRef | undefined {
    return this.from[name];
  }

  /** The same rows with another input; the targets stay. */
  withInput(tensor: TensorRef, affine: ResidentField['affine']): ResidentDataset {
    const [input, ...others] = this.columns;
    const changed: ResidentField = affine ? { name: input!.name, tensor, affine } : { name: input!.name, tensor };
    return new ResidentDataset(this.name, [changed, ...others], this.classes, this.raw);
  }
}

import { CodedError } from '@cdui/protocol';
import type { GradientHealth, StepFacts } from '@cdui/protocol';
import type { RecordedPort, RecordedTensor, RecordedValue } from './recorded-port';
import { parseSlice } from './slices';
import { Range } from './statistics';
import type { TensorFile } from './tensor-file';

/** A port in the list of what was recorded. */
export interface PortSummary {
  readonly node_id: string;
  readonly port: string;
  readonly type: string;
  /** Tensors only. */
  readonly full_shape: readonly number[] | null;
}

export interface TensorView {
  readonly type: 'tensor';
  readonly full_shape: readonly number[];
  readonly dtype: string;
  /** As it was asked for. */
  readonly slice: string;
  readonly sliced_shape: readonly number[];
  /** Nested by dimension; a lone value for a shape of []. What JSON has no number for is null. */
  readonly values: unknown;
  /** Always false: what is too large is refused, never cut. */
  readonly truncated: false;
  /** Of the finite values of the slice; null without any. */
  readonly min: number | null;
  readonly max: number | null;
  /** Floating dtypes only. */
  readonly mean: number | null;
}

export type ValueView = Omit<RecordedValue, 'node_id' | 'port'>;

export type OutputView = { readonly node_id: string; readonly port: string } & (TensorView | ValueView);

export interface SliceRequest {
  /** numpy's notation; default: everything. */
  readonly slice?: string;
  /** 1 ... 1,000,000; default 4096. */
  readonly maxElements?: number;
}

/** Whether a port, or a weight of the node, has a recorded gradient. Its tensor is the port `<port>__grad` or `__weight_grad__<name>`. */
export interface GradientEntry {
  /** The port, or the weight's name. */
  readonly port: string;
  readonly kind: 'port' | 'weight';
  readonly has_grad: boolean;
  readonly health: GradientHealth | null;
}

export const DEFAULT_MAX_ELEMENTS = 4_096;
export const LARGEST_MAX_ELEMENTS = 1_000_000;

const GRADIENT = /^(?!__)(.*)__grad$/;
const WEIGHT_GRADIENT = /^__weight_grad__(.*)$/;

export function summaryOf(port: RecordedPort): PortSummary {
  const { node_id, port: name } = port;
  const type = port.type === 'other' ? port.class : port.type;
  return { node_id, port: name, type, full_shape: port.type === 'tensor' ? port.full_shape : null };
}

export function valueView({ node_id: _node, port: _port, ...value }: RecordedValue): ValueView {
  return value;
}

/** @throws CodedError `invalid_slice`, `invalid_max_elements`, `slice_too_large` */
export async function tensorView(
  file: TensorFile,
  recorded: RecordedTensor,
  { slice = '', maxElements = DEFAULT_MAX_ELEMENTS }: SliceRequest,
): Promise<TensorView> {
  const { full_shape: full, dtype } = recorded;
  if (!Number.isSafeInteger(maxElements) || maxElements < 1 || maxElements > LARGEST_MAX_ELEMENTS) {
    throw new CodedError(
      'invalid_max_elements',
      `max_elements must be a whole number from 1 to ${LARGEST_MAX_ELEMENTS}, got ${maxElements}`,
      { max_elements: maxElements },
    );
  }
  const selection = parseSlice(slice, full);
  const { elements, shape } = selection;
  if (elements > maxElements) {
    throw new CodedError(
      'slice_too_large',
      `The slice "${slice}" of [${full.join(', ')}] selects ${elements} elements, more than max_elements allows (${maxElements}): ` +
        `narrow it, for example to "${narrowed(full, maxElements)}", or raise max_elements up to ${LARGEST_MAX_ELEMENTS}`,
      { slice, elements, max_elements: maxElements },
    );
  }
  const range = new Range();
  const flat: (number | boolean | null)[] = [];
  await file.select(selection, (value) => {
    range.add(value);
    flat.push(dtype === 'bool' ? value !== 0 : Number.isFinite(value) ? value : null);
  });
  const { finite, min, max, sum } = range;
  return {
    type: 'tensor',
    full_shape: full,
    dtype,
    slice,
    sliced_shape: shape,
    values: nest(flat, shape),
    truncated: false,
    min: finite ? min : null,
    max: finite ? max : null,
    mean: finite && dtype.startsWith('float') ? sum / finite : null,
  };
}

/** The steps that a node recorded (verbose runs); none when it recorded nothing. */
export function stepsOf(ports: readonly RecordedPort[]): readonly StepFacts[] {
  return ports.flatMap((port) => (port.type === 'steps' ? port.steps : []));
}

/** The node's own floating tensors and its weights, with what is known of their gradients. */
export function gradientsOf(ports: readonly RecordedPort[]): readonly GradientEntry[] {
  const tensors = ports.filter((port): port is RecordedTensor => port.type === 'tensor');
  const health = new Map(tensors.map((tensor) => [tensor.port, tensor.health ?? null]));
  const own = tensors.filter(({ port, dtype }) => dtype.startsWith('float') && !port.startsWith('__'));
  const outputs = own.flatMap(({ port }): GradientEntry[] => {
    // `<port>__grad` is the gradient of a port, unless there is no such port.
    const of = GRADIENT.exec(port)?.[1];
    if (of !== undefined && health.has(of)) return [];
    const gradient = `${port}__grad`;
    return [{ port, kind: 'port', has_grad: health.has(gradient), health: health.get(gradient) ?? null }];
  });
  const weights = tensors.flatMap(({ port }): GradientEntry[] => {
    const name = WEIGHT_GRADIENT.exec(port)?.[1];
    return name === undefined ? [] : [{ port: name, kind: 'weight', has_grad: true, health: health.get(port) ?? null }];
  });
  return [...outputs, ...weights];
}

/** A slice that fits: the first so many of the first axes. */
function narrowed(shape: readonly number[], maxElements: number): string {
  let left = maxElements;
  const parts: string[] = [];
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const count = Math.max(1, Math.min(shape[axis]!, left));
    parts.unshift(count === shape[axis] ? ':' : `:${count}`);
    left = Math.floor(left / count);
  }
  return parts.join(',');
}

function nest(flat: readonly unknown[], shape: readonly number[]): unknown {
  const [size, ...inner] = shape;
  if (size === undefined) return flat[0] ?? null;
  if (inner.length === 0) return flat;
  const step = inner.reduce((product, next) => product * next, 1);
  return Array.from({ length: size }, (_, index) => nest(flat.slice(index * step, (index + 1) * step), inner));
}

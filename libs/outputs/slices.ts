import { CodedError } from '@cdui/protocol';

/** What is taken of one axis. */
export interface AxisSelection {
  readonly start: number;
  /** May be negative, never 0. */
  readonly step: number;
  readonly count: number;
  /** Whether the axis is gone in the result: an index was given, not a range. */
  readonly dropped: boolean;
}

export interface Selection {
  /** One for each axis of the tensor. */
  readonly axes: readonly AxisSelection[];
  /** Shape of what is selected. */
  readonly shape: readonly number[];
  readonly elements: number;
}

const WHOLE_NUMBER = /^[+-]?\d{1,15}$/;

/**
 * Reads a selection in numpy's notation: `0,:,1:4,::2`, negative numbers from the end, one `...` for the axes between. Axes that are not named are
 * taken whole; an empty text takes everything.
 *
 * @throws CodedError `invalid_slice` that names the part, the axis and its size
 */
export function parseSlice(text: string, shape: readonly number[]): Selection {
  const parts = text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
  const axes = spread(parts, shape, text).map((part, axis) => select(part, shape[axis]!, axis, text));
  const selected = axes.filter(({ dropped }) => !dropped).map(({ count }) => count);
  return { axes, shape: selected, elements: axes.reduce((product, { count }) => product * count, 1) };
}

/** One part for each axis, `:` where none was written. */
function spread(parts: readonly string[], shape: readonly number[], text: string): readonly string[] {
  const ellipses = parts.filter((part) => part === '...').length;
  if (ellipses > 1) throw invalid(text, 'it has more than one "..."');
  const named = parts.length - ellipses;
  if (named > shape.length) {
    throw invalid(text, `it names ${named} axes, the tensor [${shape.join(', ')}] has ${shape.length}`);
  }
  const rest = new Array<string>(shape.length - named).fill(':');
  const at = ellipses === 1 ? parts.indexOf('...') : parts.length;
  return [...parts.slice(0, at), ...rest, ...parts.slice(at + ellipses)];
}

function select(part: string, size: number, axis: number, text: string): AxisSelection {
  if (!part.includes(':')) return { start: indexIn(part, size, axis, text), step: 1, count: 1, dropped: true };
  const bounds = part.split(':').map((bound) => bound.trim());
  if (bounds.length > 3) throw invalid(text, `"${part}" has more than start, stop and step`);
  const step = boundOf(bounds[2], part, text) ?? 1;
  if (step === 0) throw invalid(text, `the step of "${part}" is 0`);
  // Bounds outside of the axis are cut to it, as numpy does.
  const lowest = step > 0 ? 0 : -1;
  const highest = step > 0 ? size : size - 1;
  const place = (bound: number | null, initial: number): number =>
    bound === null ? initial : Math.min(highest, Math.max(lowest, bound < 0 ? bound + size : bound));
  const start = place(boundOf(bounds[0], part, text), step > 0 ? lowest : highest);
  const stop = place(boundOf(bounds[1], part, text), step > 0 ? highest : lowest);
  return { start, step, count: Math.max(0, Math.ceil((stop - start) / step)), dropped: false };
}

function indexIn(part: string, size: number, axis: number, text: string): number {
  if (!WHOLE_NUMBER.test(part)) {
    throw invalid(text, `"${part}" is neither an index nor a range; write for example 0 or 1:4 or ::2`);
  }
  const index = Number(part);
  const found = index < 0 ? index + size : index;
  if (found < 0 || found >= size) throw invalid(text, `index ${index} is outside of axis ${axis}, which has ${size}`);
  return found;
}

function boundOf(bound: string | undefined, part: string, text: string): number | null {
  if (bound === undefined || bound === '') return null;
  if (!WHOLE_NUMBER.test(bound)) throw invalid(text, `"${bound}" in "${part}" is not a whole number`);
  return Number(bound);
}

function invalid(text: string, what: string): CodedError {
  const shown = text.length > 100 ? `${text.slice(0, 97)}...` : text;
  return new CodedError('invalid_slice', `The slice "${shown}" cannot be used: ${what}`, { slice: shown });
}

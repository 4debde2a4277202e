import type { Canvas } from './canvas';
import { BLACK, GREY } from './canvas';

/** Where a plot's data are drawn, in pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

const TICKS = 6;
const TICK_LENGTH = 5;
const GLYPH_ROOM = 14;

/** Beyond it the span between two numbers would not be finite: larger ones are drawn at the edge. */
const LARGEST = Number.MAX_VALUE / 4;

const clipped = (value: number): number => Math.min(LARGEST, Math.max(-LARGEST, value));

/** The span of finite numbers; one number or none is widened so that something can be drawn. */
export function rangeOf(values: ArrayLike<number>): Range {
  let [min, max] = [Infinity, -Infinity];
  for (let index = 0; index < values.length; index++) {
    const given = values[index] ?? NaN;
    if (!Number.isFinite(given)) continue;
    const value = clipped(given);
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min > max) return { min: 0, max: 1 };
  if (min < max) return { min, max };
  const margin = min === 0 ? 0.5 : Math.abs(min) * 0.1;
  return { min: min - margin, max: max + margin };
}

/** Room above the largest and below the smallest value, so that a line does not run along the frame. */
export function withMargin({ min, max }: Range, share = 0.05): Range {
  return { min: min - (max - min) * share, max: max + (max - min) * share };
}

/** Round numbers inside a range: steps of 1, 2 or 5 times a power of ten; `whole` for axes that count. */
export function ticks({ min, max }: Range, whole = false): readonly number[] {
  const raw = (max - min) / TICKS;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const round = ([1, 2, 5, 10].find((factor) => factor * magnitude >= raw) ?? 10) * magnitude;
  const step = whole ? Math.max(1, round) : round;
  if (!Number.isFinite(step) || step <= 0) return [min];
  const first = Math.ceil(min / step - 1e-9);
  const count = Math.floor(max / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
}

/** A number in few characters. */
export function tickText(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace('e+', 'e');
  return String(Number(value.toPrecision(4)));
}

/** Maps a value of a range to a pixel of a length. */
export function scaled(value: number, { min, max }: Range, length: number): number {
  return ((clipped(value) - min) / (max - min)) * (length - 1);
}

/** What the axes of a plot count. */
export interface AxesStyle {
  /** The horizontal axis counts things. */
  readonly whole?: boolean;
  /** Both axes count, and the vertical one grows downwards, as the rows of a matrix do. */
  readonly matrix?: boolean;
}

/** Frame, grid lines, and labels on the left and below. */
export function drawAxes(
  canvas: Canvas,
  area: Area,
  horizontal: Range,
  vertical: Range,
  { matrix = false, whole = matrix }: AxesStyle = {},
): void {
  for (const value of ticks(horizontal, whole)) {
    const x = area.x + Math.round(scaled(value, horizontal, area.width));
    canvas.fill(x, area.y, 1, area.height, GREY);
    canvas.fill(x, area.y + area.height, 1, TICK_LENGTH, BLACK);
    canvas.text(x, area.y + area.height + TICK_LENGTH + 4, tickText(value), BLACK, { align: 'center' });
  }
  for (const value of ticks(vertical, matrix)) {
    const y = yOf(value, vertical, area, matrix);
    canvas.fill(area.x, y, area.width, 1, GREY);
    drawLeftTick(canvas, area.x, y, value);
  }
  canvas.frame(area.x, area.y, area.width, area.height, BLACK);
}

/** Labels to the right of a colour bar. */
export function drawRightTicks(canvas: Canvas, area: Area, vertical: Range): void {
  for (const value of ticks(vertical)) {
    const y = yOf(value, vertical, area, false);
    const right = area.x + area.width;
    canvas.fill(right, y, TICK_LENGTH, 1, BLACK);
    canvas.text(right + TICK_LENGTH + 4, y - GLYPH_ROOM / 2, tickText(value), BLACK);
  }
}

export function yOf(value: number, range: Range, area: Area, down = false): number {
  const offset = scaled(value, range, area.height);
  return area.y + Math.round(down ? offset : area.height - 1 - offset);
}

function drawLeftTick(canvas: Canvas, x: number, y: number, value: number): void {
  canvas.fill(x - TICK_LENGTH, y, TICK_LENGTH, 1, BLACK);
  canvas.text(x - TICK_LENGTH - 4, y - GLYPH_ROOM / 2, tickText(value), BLACK, { align: 'right' });
}

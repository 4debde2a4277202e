import type { Shape } from '@cdui/tensor/runtime';
import type { Area } from './axes';
import { drawAxes, drawRightTicks, rangeOf, scaled, withMargin, yOf } from './axes';
import type { Color } from './canvas';
import { BLACK, BLUE, Canvas, fittingLength, GREY, WHITE } from './canvas';
import { viridis } from './viridis';

/** Numbers in row-major order with their shape. */
export interface PlotData {
  readonly shape: Shape;
  readonly values: Float64Array;
  /** Whether they are whole numbers from 0 to 255 (uint8 images). */
  readonly bytes: boolean;
}

/** A picture, and the data for drawing it elsewhere (null for an image). */
export interface Plot {
  readonly canvas: Canvas;
  readonly chart: Readonly<Record<string, unknown>> | null;
}

export const WIDTH = 800;
export const HEIGHT = 600;
const BINS = 50;
const TITLE_MARGIN = 20;
const AREA: Area = { x: 100, y: 50, width: 670, height: 490 };
const HEATMAP_AREA: Area = { x: 80, y: 50, width: 560, height: 490 };
const BAR_AREA: Area = { x: 665, y: 50, width: 24, height: 490 };
const IMAGE_AREA: Area = { x: 20, y: 44, width: 760, height: 540 };
// A chart travels in an event of at most 128 KiB.
const MAX_CHART_VALUES = 4000;

/** The values in their order, as one line. Gaps where they are not finite. */
export function linePlot({ values }: PlotData, title: string): Plot {
  const canvas = titled(title);
  const horizontal = values.length > 1 ? { min: 0, max: values.length - 1 } : { min: -1, max: 1 };
  const vertical = withMargin(rangeOf(values));
  drawAxes(canvas, AREA, horizontal, vertical, { whole: true });
  let previous: readonly [number, number] | null = null;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      previous = null;
      return;
    }
    const point = [AREA.x + scaled(index, horizontal, AREA.width), yOf(value, vertical, AREA)] as const;
    const alone = previous === null && !Number.isFinite(values[index + 1] ?? NaN);
    if (alone) canvas.fill(Math.round(point[0]) - 3, point[1] - 3, 8, 8, BLUE);
    const [x, y] = previous ?? point;
    canvas.line(x, y, point[0], point[1], BLUE);
    previous = point;
  });
  const stride = Math.max(1, Math.ceil(values.length / MAX_CHART_VALUES));
  const shown = values.filter((_, index) => index % stride === 0);
  return { canvas, chart: { type: 'line', title, stride, values: finite(shown) } };
}

/** How many values fall into each of 50 bins of equal width; the last bin holds its upper edge. */
export function histogramPlot({ values }: PlotData, title: string): Plot {
  const canvas = titled(title);
  const range = rangeOf(values);
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(BINS - 1, Math.floor(scaled(value, range, BINS + 1) + 1e-9));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const vertical = { min: 0, max: Math.max(1, ...counts) * 1.05 };
  drawAxes(canvas, AREA, range, vertical);
  counts.forEach((count, bin) => {
    if (count === 0) return;
    const left = AREA.x + Math.round((bin * AREA.width) / BINS);
    const right = AREA.x + Math.round(((bin + 1) * AREA.width) / BINS);
    const top = yOf(count, vertical, AREA);
    canvas.fill(left, top, right - left, AREA.y + AREA.height - top, BLUE);
    canvas.frame(left, top, right - left, AREA.y + AREA.height - top, BLACK);
  });
  return { canvas, chart: { type: 'histogram', title, min: range.min, max: range.max, counts } };
}

/** A matrix in colours, with a bar that explains them. One dimension is wrapped into a square, further ones are joined with the second. */
export function heatmapPlot(data: PlotData, title: string): Plot {
  const canvas = titled(title);
  const [rows, columns] = matrixSize(data);
  const range = rangeOf(data.values);
  const colorAt = (x: number, y: number): Color => {
    const value = data.values[y * columns + x];
    return value === undefined || !Number.isFinite(value) ? GREY : viridis(scaled(value, range, 2));
  };
  const centres = (count: number) => ({ min: -0.5, max: count - 0.5 });
  drawAxes(canvas, HEATMAP_AREA, centres(columns), centres(rows), { matrix: true });
  paint(canvas, HEATMAP_AREA, columns, rows, colorAt);
  canvas.frame(HEATMAP_AREA.x, HEATMAP_AREA.y, HEATMAP_AREA.width, HEATMAP_AREA.height, BLACK);
  paint(canvas, BAR_AREA, 1, BAR_AREA.height, (_x, y) => viridis(1 - y / (BAR_AREA.height - 1)));
  canvas.frame(BAR_AREA.x, BAR_AREA.y, BAR_AREA.width, BAR_AREA.height, BLACK);
  drawRightTicks(canvas, BAR_AREA, range);
  if (rows * columns > MAX_CHART_VALUES) return { canvas, chart: null };
  return {
    canvas,
    chart: { type: 'heatmap', title, rows, columns, min: range.min, max: range.max, values: finite(data.values) },
  };
}

/**
 * An image [H, W], [C, H, W] (C of 1, 3, 4) or [H, W, C], or a batch of them as a contact sheet that is as square as can be, with a gap
 * of one pixel. Floats count from 0 to 1 and are clipped; bytes from 0 to 255. Null when the shape is none of these.
 */
export function imagePlot(data: PlotData, title: string): Plot | null {
  const layout = imageLayout(data.shape);
  if (layout === null) return null;
  const { count, height, width, channels, at } = layout;
  const across = Math.ceil(Math.sqrt(count));
  const down = Math.ceil(count / across);
  const top = data.bytes ? 255 : 1;
  const sheet = { width: across * (width + 1) - 1, height: down * (height + 1) - 1 };
  const pixel = (image: number, channel: number, y: number, x: number): number => {
    const value = data.values[at(image, channels < 3 ? 0 : channel, y, x)] ?? 0;
    return Math.round((Math.min(top, Math.max(0, value)) / top) * 255) || 0;
  };
  const colorAt = (sheetX: number, sheetY: number): Color => {
    const [column, x] = [Math.floor(sheetX / (width + 1)), sheetX % (width + 1)];
    const [row, y] = [Math.floor(sheetY / (height + 1)), sheetY % (height + 1)];
    const image = row * across + column;
    if (x === width || y === height || image >= count) return GREY;
    return [pixel(image, 0, y, x), pixel(image, 1, y, x), pixel(image, 2, y, x)];
  };
  const canvas = titled(title);
  const zoom = Math.min(IMAGE_AREA.width / sheet.width, IMAGE_AREA.height / sheet.height);
  const shown = {
    width: Math.max(1, Math.floor(sheet.width * zoom)),
    height: Math.max(1, Math.floor(sheet.height * zoom)),
  };
  const area = {
    ...shown,
    x: IMAGE_AREA.x + Math.floor((IMAGE_AREA.width - shown.width) / 2),
    y: IMAGE_AREA.y + Math.floor((IMAGE_AREA.height - shown.height) / 2),
  };
  paint(canvas, area, sheet.width, sheet.height, colorAt);
  return { canvas, chart: null };
}

interface ImageLayout {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  /** Index of an element. */
  at(image: number, channel: number, y: number, x: number): number;
}

const isChannels = (size: number | undefined): boolean => size === 1 || size === 3 || size === 4;

function imageLayout(shape: Shape): ImageLayout | null {
  if (shape.length < 2 || shape.length > 4 || shape.some((size) => size === 0)) return null;
  const [count, ...image] = shape.length === 4 ? shape : [1, ...shape];
  if (image.length === 2) {
    const [height, width] = image as [number, number];
    return { count: count ?? 1, height, width, channels: 1, at: (_image, _channel, y, x) => y * width + x };
  }
  const [first, second, third] = image as [number, number, number];
  if (isChannels(first) || !isChannels(third)) {
    // Maps of another number of channels (features) are shown one by one.
    const maps = !isChannels(first);
    const [images, channels, height, width] = maps
      ? [(count ?? 1) * first, 1, second, third]
      : [count ?? 1, first, second, third];
    return {
      count: images,
      channels,
      height,
      width,
      at: (item, channel, y, x) => ((item * channels + channel) * height + y) * width + x,
    };
  }
  return {
    count: count ?? 1,
    channels: third,
    height: first,
    width: second,
    at: (item, channel, y, x) => ((item * first + y) * second + x) * third + channel,
  };
}

function matrixSize({ shape, values }: PlotData): readonly [rows: number, columns: number] {
  if (shape.length <= 1) {
    const side = Math.max(1, Math.ceil(Math.sqrt(values.length)));
    return [side, side];
  }
  const rows = Math.max(1, shape[0] ?? 1);
  return [rows, Math.max(1, values.length / rows)];
}

/** Stretches a grid of cells over an area, without smoothing. */
function paint(
  canvas: Canvas,
  area: Area,
  columns: number,
  rows: number,
  colorAt: (x: number, y: number) => Color,
): void {
  const columnAt = Int32Array.from({ length: area.width }, (_, x) => Math.floor((x * columns) / area.width));
  let paintedRow = -1;
  let colors: readonly Color[] = [];
  for (let y = 0; y < area.height; y++) {
    const row = Math.floor((y * rows) / area.height);
    if (row !== paintedRow) colors = rowColors(columnAt, (column) => colorAt(column, row));
    paintedRow = row;
    for (let x = 0; x < area.width; x++) canvas.set(area.x + x, area.y + y, colors[x] ?? WHITE);
  }
}

/** One colour for each pixel of a row; a cell's colour is worked out once. */
function rowColors(columnAt: Int32Array, colorOf: (column: number) => Color): readonly Color[] {
  const colors: Color[] = [];
  let current: Color = WHITE;
  columnAt.forEach((column, x) => {
    if (x === 0 || column !== columnAt[x - 1]) current = colorOf(column);
    colors.push(current);
  });
  return colors;
}

function titled(title: string): Canvas {
  const canvas = new Canvas(WIDTH, HEIGHT);
  const room = WIDTH - 2 * TITLE_MARGIN;
  const glyphs = [...title];
  const scale = glyphs.length <= fittingLength(room, 2) ? 2 : 1;
  const most = fittingLength(room, scale);
  const shown = glyphs.length <= most ? title : `${glyphs.slice(0, most - 3).join('')}...`;
  canvas.text(WIDTH / 2, 16, shown, BLACK, { align: 'center', scale });
  return canvas;
}

/** JSON has no NaN and no infinity: null stands for a gap. */
function finite(values: Float64Array): readonly (number | null)[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}

import { PNG } from 'pngjs';
import { rangeOf, ticks, tickText } from './axes';
import { Canvas } from './canvas';
import { glyphPixel } from './font';
import type { Plot, PlotData } from './plots';
import { heatmapPlot, HEIGHT, histogramPlot, imagePlot, linePlot, WIDTH } from './plots';
import { viridis } from './viridis';

const data = (values: readonly number[], shape: readonly number[] = [values.length], bytes = false): PlotData => ({
  shape,
  values: Float64Array.from(values),
  bytes,
});
const pixel = (canvas: Canvas, x: number, y: number): readonly number[] => canvas.pixel(x, y);
/** How many pixels have a colour, and where they begin and end as [left, top, right, bottom]. */
const extent = (canvas: Canvas, color: readonly number[]): { count: number; box: readonly number[] } => {
  let [count, left, top, right, bottom] = [0, Infinity, Infinity, -1, -1];
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) {
      const [red, green, blue] = canvas.pixel(x, y);
      if (red !== color[0] || green !== color[1] || blue !== color[2]) continue;
      count++;
      if (x < left) left = x;
      if (x > right) right = x;
      if (top > y) top = y;
      bottom = y;
    }
  }
  return { count, box: [left, top, right, bottom] };
};
const canvasOf = (plot: Plot | null): Canvas => plot?.canvas ?? new Canvas(0, 0);
const BLUE = [31, 119, 180];

describe('plots', () => {
  it('draws a line through the area, from the first value to the last', () => {
    const png = canvasOf(linePlot(data([0, 1, 2, 3]), 'Loss'));
    expect([png.width, png.height]).toEqual([WIDTH, HEIGHT]);
    const [left, top, right, bottom] = extent(png, BLUE).box;
    expect([left, right]).toEqual([100, 770]);
    // A twentieth of the span stays free above and below.
    expect([top, bottom]).toEqual([72, 518]);
    expect(pixel(png, 101, 516)).toEqual(BLUE);
    expect(pixel(png, 101, 60)).not.toEqual(BLUE);
  });

  it('leaves gaps where values are not finite, and draws one value alone', () => {
    const whole = extent(canvasOf(linePlot(data([1, 2, 1, 2, 1]), '')), BLUE).count;
    const gap = extent(canvasOf(linePlot(data([1, 2, NaN, 2, 1]), '')), BLUE).count;
    expect(gap).toBeLessThan(whole);
    expect(gap).toBeGreaterThan(0);
    expect(extent(canvasOf(linePlot(data([5]), '')), BLUE)).toEqual({ count: 64, box: [432, 292, 439, 299] });
    const lone = extent(canvasOf(linePlot(data([1, NaN, 2, NaN, 1]), '')), BLUE).count;
    expect(lone).toBeGreaterThan(100);
    expect(linePlot(data([1, Infinity]), 'T').chart).toEqual({
      type: 'line',
      title: 'T',
      stride: 1,
      values: [1, null],
    });
  });

  it('draws the largest numbers that there are', () => {
    const values = [-Number.MAX_VALUE, Number.MAX_VALUE, 0];
    const [, top, , bottom] = extent(canvasOf(linePlot(data(values), '')), BLUE).box;
    expect([top, bottom]).toEqual([72, 518]);
    const counts = histogramPlot(data(values), '').chart?.['counts'] as readonly number[];
    expect([counts[0], counts[25], counts[49]]).toEqual([1, 1, 1]);
    expect(pixel(heatmapPlot(data(values, [1, 3]), '').canvas, 600, 300)).toEqual(viridis(0.5));
    const canvas = new Canvas(4, 4);
    canvas.line(0, 0, NaN, Infinity, BLUE as [number, number, number]);
    expect(extent(canvas, BLUE).count).toBe(0);
  });

  it('thins out the data of a long line', () => {
    const { chart } = linePlot(data(Array.from({ length: 10_000 }, (_, index) => index)), '');
    expect(chart?.['stride']).toBe(3);
    expect((chart?.['values'] as number[]).slice(0, 3)).toEqual([0, 3, 6]);
  });

  it('gives pictures that fit into an event', () => {
    const values = Array.from({ length: 400 }, (_, index) => Math.sin(index / 20) * index);
    for (const plot of [linePlot, histogramPlot, heatmapPlot, imagePlot]) {
      expect(plot(data(values, [20, 20]), 'A title of usual length')?.canvas.toBase64().length).toBeLessThan(30_000);
    }
  });

  it('counts into 50 bins, the last of which holds the largest value', () => {
    const plot = histogramPlot(data([0, 0, 0, 0.5, 1, NaN]), '');
    const counts = plot.chart?.['counts'] as number[];
    expect(counts).toHaveLength(50);
    expect([counts[0], counts[25], counts[49]]).toEqual([3, 1, 1]);
    expect(counts.reduce((sum, value) => sum + value)).toBe(5);
    const png = canvasOf(plot);
    expect(pixel(png, 106, 300)).toEqual(BLUE);
    expect(pixel(png, 106, 60)).not.toEqual(BLUE);
    expect(pixel(png, 440, 500)).toEqual(BLUE);
    expect(pixel(png, 300, 500)).not.toEqual(BLUE);
  });

  it('paints a matrix in viridis, row by row, with a bar', () => {
    const png = canvasOf(heatmapPlot(data([0, 1, 2, 3], [2, 2]), ''));
    const cell = (column: number, row: number) => pixel(png, 80 + 140 + column * 280, 50 + 120 + row * 245);
    expect([cell(0, 0), cell(1, 0), cell(0, 1), cell(1, 1)]).toEqual([
      viridis(0),
      viridis(1 / 3),
      viridis(2 / 3),
      viridis(1),
    ]);
    expect(pixel(png, 677, 51)).toEqual(viridis(1 - 1 / 489));
    expect(pixel(png, 677, 538)).toEqual(viridis(1 / 489));
  });

  it('counts the rows and columns of a matrix at the middle of their cells', () => {
    const png = canvasOf(heatmapPlot(data([0, 1, 2, 3], [2, 2]), ''));
    const black = [32, 33, 36];
    const below = Array.from({ length: 560 }, (_, x) => x).filter(
      (x) => String(pixel(png, 80 + x, 542)) === `${black}`,
    );
    const beside = Array.from({ length: 490 }, (_, y) => y).filter(
      (y) => String(pixel(png, 77, 50 + y)) === `${black}`,
    );
    expect([below, beside]).toEqual([
      [140, 419],
      [122, 367],
    ]);
  });

  it('puts a lone value into the bin that begins with it', () => {
    expect((histogramPlot(data([2]), '').chart?.['counts'] as number[]).indexOf(1)).toBe(25);
  });

  it('writes a long title smaller, cuts one that is longer still, and never leaves the picture', () => {
    const titleBox = (title: string) => {
      const { canvas } = linePlot(data([]), title);
      const dark: number[] = [];
      for (let y = 0; y < 40; y++) for (let x = 0; x < WIDTH; x++) if (canvas.pixel(x, y)[0] === 32) dark.push(x);
      return [Math.min(...dark), Math.max(...dark)] as const;
    };
    for (const length of [10, 63, 64, 120, 500]) {
      const [left, right] = titleBox('M'.repeat(length));
      expect(left).toBeGreaterThanOrEqual(20);
      expect(right).toBeLessThan(WIDTH - 20);
    }
  });

  it('wraps one dimension into a square and joins further ones', () => {
    expect(heatmapPlot(data([1, 2, 3, 4, 5]), '').chart).toMatchObject({ rows: 3, columns: 3 });
    expect(heatmapPlot(data(Array.from({ length: 24 }, Number), [2, 3, 4]), '').chart).toMatchObject({
      rows: 2,
      columns: 12,
    });
    expect(heatmapPlot(data(new Array<number>(10_000).fill(1), [100, 100]), '').chart).toBeNull();
  });

  it.each<[string, readonly number[], readonly number[]]>([
    ['CHW', [1, 0, 0, 1, 0, 0], [3, 1, 2]],
    ['HWC', [1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0], [2, 2, 3]],
    ['NCHW', [1, 0, 0, 1, 0, 0], [1, 3, 1, 2]],
  ])('shows a colour image %s', (_name, values, shape) => {
    const png = canvasOf(imagePlot(data(values, shape), ''));
    expect(pixel(png, 200, 300)).toEqual([255, 0, 0]);
    expect(pixel(png, 600, 300)).toEqual([0, 255, 0]);
  });

  it('clips floats, takes bytes as they are, and shows one channel in grey', () => {
    const floats = canvasOf(imagePlot(data([-1, 7], [1, 2]), ''));
    expect([pixel(floats, 200, 300), pixel(floats, 600, 300)]).toEqual([
      [0, 0, 0],
      [255, 255, 255],
    ]);
    const bytes = canvasOf(imagePlot(data([51, 204], [1, 1, 2], true), ''));
    expect([pixel(bytes, 200, 300), pixel(bytes, 600, 300)]).toEqual([
      [51, 51, 51],
      [204, 204, 204],
    ]);
  });

  it('lays a batch out as a contact sheet with a gap', () => {
    const png = canvasOf(imagePlot(data([1, 0, 0, 1, 1], [5, 1, 1, 1]), ''));
    // Three across, two down: five cells of width 760 / 5 with gaps of one sheet pixel, that is 152 wide.
    const at = (column: number, row: number) => pixel(png, 20 + 76 + column * 304, 88 + 76 + row * 304)[0];
    expect([at(0, 0), at(1, 0), at(2, 0), at(0, 1), at(1, 1), at(2, 1)]).toEqual([255, 0, 0, 255, 255, 190]);
  });

  it('refuses what is no image', () => {
    for (const shape of [[4], [1, 1, 1, 2, 2], [0, 3]]) expect(imagePlot(data([1, 2, 3, 4], shape), '')).toBeNull();
  });

  it('shows the maps of many channels one by one', () => {
    const png = canvasOf(imagePlot(data([1, 0, 1, 0, 0, 0], [6, 1, 1]), ''));
    expect(pixel(png, 96, 164)).toEqual([255, 255, 255]);
  });
});

describe('axes', () => {
  it('have round ticks inside the range', () => {
    expect(ticks({ min: 0, max: 1 })).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
    expect(ticks({ min: -30, max: 95 })).toEqual([0, 50]);
    expect(ticks({ min: 3, max: 3 })).toEqual([3]);
    expect(ticks({ min: -0.5, max: 2.5 }, true)).toEqual([0, 1, 2]);
    expect([0, 0.6000000000000001, 1234567, 0.00001234, -12.5].map(tickText)).toEqual([
      '0',
      '0.6',
      '1.2e6',
      '1.2e-5',
      '-12.5',
    ]);
  });

  it('widen a single value, and take 0 to 1 for none', () => {
    expect(rangeOf([])).toEqual({ min: 0, max: 1 });
    expect(rangeOf([0])).toEqual({ min: -0.5, max: 0.5 });
    expect(rangeOf([NaN, 10, Infinity])).toEqual({ min: 9, max: 11 });
  });
});

describe('Canvas', () => {
  it('becomes a PNG file that others can read', () => {
    const canvas = new Canvas(17, 9);
    for (let y = 0; y < 9; y++) for (let x = 0; x < 17; x++) canvas.set(x, y, [x * 15, y * 28, (x * y) % 256]);
    canvas.set(-1, 0, [1, 1, 1]);
    canvas.set(17, 0, [1, 1, 1]);
    const png = PNG.sync.read(Buffer.from(canvas.toBase64(), 'base64'));
    expect([png.width, png.height]).toEqual([17, 9]);
    for (let y = 0; y < 9; y++) {
      for (let x = 0; x < 17; x++) {
        expect([...png.data.subarray((y * 17 + x) * 4, (y * 17 + x) * 4 + 4)]).toEqual([...canvas.pixel(x, y), 255]);
      }
    }
  });
});

describe('text', () => {
  it('is drawn where it is asked to be', () => {
    const canvas = new Canvas(40, 20);
    canvas.text(39, 2, 'L', [1, 2, 3], { scale: 1, align: 'right' });
    expect(extent(canvas, [1, 2, 3]).box).toEqual([34, 2, 38, 8]);
    expect(extent(canvas, [1, 2, 3]).count).toBe(7 + 4);
  });

  it('leaves out accents', () => {
    const [bare, accented] = ['e', 'é'].map((letter) => {
      const canvas = new Canvas(12, 20);
      canvas.text(0, 0, letter, [1, 2, 3]);
      return canvas.toBase64();
    });
    expect(accented).toBe(bare);
  });

  it('has a glyph of its own for every printable character, and a box for the rest', () => {
    const picture = (character: string): string =>
      Array.from({ length: 45 }, (_, at) => (glyphPixel(character, at % 5, Math.floor(at / 5)) ? '#' : '.')).join('');
    const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    const unknown = picture('\u20ac');
    expect(new Set([unknown, ...characters.map(picture)]).size).toBe(96);
  });
});

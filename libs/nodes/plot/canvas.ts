import { GLYPH_HEIGHT, GLYPH_WIDTH, glyphPixel } from './font';
import { encodePng } from './png';

export type Color = readonly [red: number, green: number, blue: number];

export const BLACK: Color = [32, 33, 36];
export const GREY: Color = [190, 194, 200];
export const WHITE: Color = [255, 255, 255];
export const BLUE: Color = [31, 119, 180];

export interface TextStyle {
  readonly scale?: number;
  /** Which point of the text (x, y) is; the default is its left end. */
  readonly align?: 'left' | 'center' | 'right';
}

/** An opaque picture to draw on. Coordinates are pixels from the upper left; whatever lies outside is clipped. */
export class Canvas {
  private readonly pixels: Uint8Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.pixels = new Uint8Array(width * height * 3).fill(255);
  }

  set(x: number, y: number, [red, green, blue]: Color): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = (y * this.width + x) * 3;
    this.pixels[at] = red;
    this.pixels[at + 1] = green;
    this.pixels[at + 2] = blue;
  }

  /** The colour of a pixel inside the picture. */
  pixel(x: number, y: number): Color {
    const at = (y * this.width + x) * 3;
    return [this.pixels[at] ?? 0, this.pixels[at + 1] ?? 0, this.pixels[at + 2] ?? 0];
  }

  fill(x: number, y: number, width: number, height: number, color: Color): void {
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      for (let column = Math.max(0, x); column < Math.min(this.width, x + width); column++)
        this.set(column, row, color);
    }
  }

  frame(x: number, y: number, width: number, height: number, color: Color): void {
    this.fill(x, y, width, 1, color);
    this.fill(x, y + height - 1, width, 1, color);
    this.fill(x, y, 1, height, color);
    this.fill(x + width - 1, y, 1, height, color);
  }

  /** A line two pixels thick (Bresenham's walk with a square brush); nothing when an end is not a finite place. */
  line(fromX: number, fromY: number, toX: number, toY: number, color: Color): void {
    let [x, y] = [Math.round(fromX), Math.round(fromY)];
    const [endX, endY] = [Math.round(toX), Math.round(toY)];
    const [stepX, stepY] = [Math.sign(endX - x), Math.sign(endY - y)];
    const [lengthX, lengthY] = [Math.abs(endX - x), Math.abs(endY - y)];
    let error = lengthX - lengthY;
    if (!Number.isFinite(error)) return;
    for (;;) {
      this.fill(x, y, 2, 2, color);
      if (x === endX && y === endY) return;
      const doubled = 2 * error;
      if (doubled > -lengthY) {
        error -= lengthY;
        x += stepX;
      }
      if (doubled < lengthX) {
        error += lengthX;
        y += stepY;
      }
    }
  }

  text(x: number, y: number, text: string, color: Color, { scale = 2, align = 'left' }: TextStyle = {}): void {
    const glyphs = [...plain(text)];
    const advance = (GLYPH_WIDTH + 1) * scale;
    const width = glyphs.length * advance - scale;
    let left = Math.round(align === 'left' ? x : align === 'right' ? x - width : x - width / 2);
    for (const character of glyphs) {
      for (let row = 0; row < GLYPH_HEIGHT; row++) {
        for (let column = 0; column < GLYPH_WIDTH; column++) {
          if (glyphPixel(character, column, row))
            this.fill(left + column * scale, y + row * scale, scale, scale, color);
        }
      }
      left += advance;
    }
  }

  /** The picture as a PNG file in base64. */
  toBase64(): string {
    return encodePng(this.width, this.height, this.pixels).toString('base64');
  }
}

/** How many characters fit into a width. */
export function fittingLength(width: number, scale: number): number {
  return Math.floor((width + scale) / ((GLYPH_WIDTH + 1) * scale));
}

/** Letters without their accents: the font has none, and a bare letter says more than a box. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '');
}

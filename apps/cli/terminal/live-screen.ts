import type { Style } from '../graph-run/style';
import { colourStyle, plainStyle, wantsColour } from '../graph-run/style';

/** The part of a stream that a view needs. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

const CLEAR_LINE = '\r\u001B[2K';

/** Lines that stay; on a terminal with one line below them that is drawn again and again. */
export class LiveScreen {
  readonly style: Style;
  private readonly moves: boolean;
  private shown = '';

  constructor(
    private readonly screen: Screen,
    env: Environment,
  ) {
    this.moves = screen.isTTY === true && env['TERM'] !== 'dumb';
    this.style = wantsColour(screen.isTTY === true, env) ? colourStyle : plainStyle;
  }

  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${line}\n`).join('');
    this.screen.write(this.shown === '' ? text : `${CLEAR_LINE}${text}`);
    this.shown = '';
  }

  /** Draws the lower line, given how many columns it may take; nothing where nothing can be drawn twice. */
  draw(line: (width: number) => string): void {
    if (!this.moves) return;
    const text = line(Math.max(20, (this.screen.columns || 80) - 1));
    if (text === this.shown) return;
    this.screen.write(`${CLEAR_LINE}${text}`);
    this.shown = text;
  }

  /** Removes the lower line. */
  clear(): void {
    if (this.shown !== '') this.screen.write(CLEAR_LINE);
    this.shown = '';
  }
}

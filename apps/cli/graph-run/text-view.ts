import type { GraphIssue, RunHostMessage, RunOutcome } from '@cdui/protocol';
import { RunLines } from './run-lines';
import { colourStyle, plainStyle, wantsColour } from './style';
import type { FileFacts, RunView } from './view';

/** The part of a stream that a view needs. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface TextViewOptions {
  readonly screen: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly verbose: boolean;
}

const CLEAR_LINE = '\r\u001B[2K';

/** Lines as they come; on a terminal with a bar of the training below them. */
export class TextView implements RunView {
  private readonly lines: RunLines;
  private readonly terminal: boolean;
  private barShown = false;

  constructor(private readonly options: TextViewOptions) {
    const { screen, env, verbose } = options;
    this.terminal = screen.isTTY === true && env['TERM'] !== 'dumb';
    this.lines = new RunLines(wantsColour(screen.isTTY === true, env) ? colourStyle : plainStyle, verbose);
  }

  checked(facts: FileFacts, issues: readonly GraphIssue[], warnings: readonly GraphIssue[]): void {
    this.print([...this.lines.banner(facts), ...this.lines.validation(issues, warnings)]);
  }

  notice(text: string): void {
    this.print([`note: ${text}`]);
  }

  message(message: RunHostMessage): void {
    this.print(this.lines.lines(message));
    if ('at_ms' in message) this.showBar(message.at_ms);
  }

  stopping(): void {
    this.print(['stopping: the run ends at its next safe point (press Ctrl+C again to end at once)']);
  }

  finished(outcome: RunOutcome): void {
    this.print(this.lines.ending(outcome));
  }

  failed(message: string): void {
    this.print([`error: ${message}`]);
  }

  private print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${line}\n`).join('');
    this.options.screen.write(this.barShown ? `${CLEAR_LINE}${text}` : text);
    this.barShown = false;
  }

  private showBar(atMs: number): void {
    const { current } = this.lines;
    if (!this.terminal || current === null) return;
    const width = Math.max(20, (this.options.screen.columns || 80) - 1);
    this.options.screen.write(`${CLEAR_LINE}${current.progress.bar(atMs, width)}`);
    this.barShown = true;
  }
}

import type { GraphIssue, RunHostMessage, RunOutcome } from '@cdui/protocol';
import { LiveScreen, type Screen } from '../terminal/live-screen';
import { RunLines } from './run-lines';
import type { FileFacts, RunView } from './view';

export interface TextViewOptions {
  readonly screen: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly verbose: boolean;
}

/** Lines as they come; on a terminal with a bar of the training below them. */
export class TextView implements RunView {
  private readonly screen: LiveScreen;
  private readonly lines: RunLines;

  constructor({ screen, env, verbose }: TextViewOptions) {
    this.screen = new LiveScreen(screen, env);
    this.lines = new RunLines(this.screen.style, verbose);
  }

  checked(facts: FileFacts, issues: readonly GraphIssue[], warnings: readonly GraphIssue[]): void {
    this.screen.print([...this.lines.banner(facts), ...this.lines.validation(issues, warnings)]);
  }

  notice(text: string): void {
    this.screen.print([`note: ${text}`]);
  }

  message(message: RunHostMessage): void {
    this.screen.print(this.lines.lines(message));
    const { current } = this.lines;
    if ('at_ms' in message && current) this.screen.draw((width) => current.progress.bar(message.at_ms, width));
  }

  stopping(): void {
    this.screen.print(['stopping: the run ends at its next safe point (press Ctrl+C again to end at once)']);
  }

  finished(outcome: RunOutcome): void {
    this.screen.print(this.lines.ending(outcome));
  }

  failed(message: string): void {
    this.screen.print([`error: ${message}`]);
  }
}

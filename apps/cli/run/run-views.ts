import type { Artifact, RunDetail, RunEvent } from '../client/api';
import { printable } from '../terminal/table';
import { LiveScreen, type Screen } from '../terminal/live-screen';
import { EventLines } from './event-lines';
import type { Follower } from './follow-run';
import type { EndedRun } from './run-end';
import { resultLines, secondsOf } from './run-result';

export interface Submitted {
  readonly runId: string;
  readonly name: string;
  readonly status: string;
  readonly url: string;
}

/** Shows a run of the server. Called in this order: submitted, what happens, then one of the other three. */
export interface SubmittedRunView extends Follower {
  submitted(run: Submitted): void;
  finished(run: EndedRun, artifacts: readonly Artifact[]): void;
  /** Nobody waits for it. */
  detached(): void;
  /** Waiting ended before the run did. */
  left(why: 'interrupt' | 'timeout', seconds: number): void;
}

/** For people. */
export class RunTextView implements SubmittedRunView {
  private readonly screen: LiveScreen;
  private readonly lines: EventLines;
  private id = '';

  constructor(screen: Screen, env: Readonly<Record<string, string | undefined>>) {
    this.screen = new LiveScreen(screen, env);
    this.lines = new EventLines(this.screen.style);
  }

  submitted({ runId, name, url }: Submitted): void {
    this.id = runId;
    const { strong, dim } = this.screen.style;
    this.screen.print([`Run submitted: ${strong(runId)}  ${dim(`${printable(name)}, ${url}`)}`]);
  }

  waiting({ queue_key, queue_position, queue_reason }: RunDetail): void {
    const place = queue_position === null ? '' : `, position ${queue_position}`;
    const why = queue_reason === null ? '' : `: ${printable(queue_reason)}`;
    this.screen.print([`○ queued for ${printable(queue_key)}${place}${why}`]);
  }

  event(event: RunEvent): void {
    this.screen.print(this.lines.lines(event));
    let shown = false;
    this.screen.draw((width) => {
      const text = this.lines.below(width);
      shown = text !== null;
      return text ?? '';
    });
    if (!shown) this.screen.clear();
  }

  lost(reason: string): void {
    const first = reason.split('. ')[0]!;
    this.screen.print([this.screen.style.warn(`! ${first}: waiting for it to come back (Ctrl+C stops the waiting)`)]);
  }

  back(): void {
    this.screen.print([this.screen.style.dim('  the server is back')]);
  }

  finished(run: EndedRun, artifacts: readonly Artifact[]): void {
    this.screen.print(resultLines(run, artifacts, this.screen.style));
  }

  detached(): void {
    this.screen.print([
      `Follow it with "cdui runs logs -f ${this.id.slice(0, 8)}" or "cdui runs show ${this.id.slice(0, 8)}".`,
    ]);
  }

  left(why: 'interrupt' | 'timeout', seconds: number): void {
    const id = this.id.slice(0, 8);
    this.screen.print([
      why === 'timeout' ? `Not over after ${seconds} s.` : 'Left.',
      `The run continues on the server: see "cdui runs show ${id}", stop it with "cdui runs cancel ${id}".`,
    ]);
  }
}

/** For programs: one document at the end. What people may want to know meanwhile goes to `aside`. */
export class RunJsonView implements SubmittedRunView {
  private run: Submitted | null = null;
  private readonly warnings: unknown[] = [];

  constructor(
    private readonly write: (text: string) => unknown,
    private readonly aside: (text: string) => unknown,
  ) {}

  submitted(run: Submitted): void {
    this.run = run;
    this.aside(`run submitted: ${run.runId}\n`);
  }

  waiting(): void {
    // Nothing to say before the end.
  }

  event({ type, payload }: RunEvent): void {
    if (type === 'run_warning') this.warnings.push(payload);
  }

  lost(reason: string): void {
    this.aside(`${reason}\n`);
  }

  back(): void {
    this.aside('the server is back\n');
  }

  finished(run: EndedRun, artifacts: readonly Artifact[]): void {
    this.document({
      status: run.status,
      error: run.error,
      seconds: secondsOf(run),
      metrics: run.final_metrics,
      artifacts,
      warnings: this.warnings,
    });
  }

  detached(): void {
    this.document({ status: this.run?.status, detached: true });
  }

  left(why: 'interrupt' | 'timeout'): void {
    this.document({ status: 'running', left: why, continues: true });
  }

  private document(found: Readonly<Record<string, unknown>>): void {
    const { runId, name, url } = this.run!;
    this.write(`${JSON.stringify({ run_id: runId, name, url, ...found }, null, 2)}\n`);
  }
}

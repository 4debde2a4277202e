import type { Reason } from '@cdui/protocol';

/** Canvas runs do not wait: they start at once or are refused. `CODEFYUI_RUN_INTERACTIVE_MAX_CONCURRENT` of them at a time, one a session. */
export class InteractiveLimits {
  private readonly runs = new Map<string, string | null>();

  constructor(private readonly max: number) {}

  /** Counts the run in, or says why not. A run without a session counts against the whole only. */
  admit(runId: string, session: string | null): Reason | null {
    const busy = session === null ? undefined : [...this.runs].find(([, other]) => other === session)?.[0];
    if (busy !== undefined) {
      const message = `This canvas runs ${busy} already: stop it, or wait for it`;
      return { code: 'interactive_limit', params: { limit: 1, run_id: busy }, message };
    }
    if (this.runs.size >= this.max) {
      const message = `${this.runs.size} canvas runs go on already, and no more than ${this.max} may: wait for one, or queue the run`;
      return { code: 'interactive_limit', params: { limit: this.max }, message };
    }
    this.runs.set(runId, session);
    return null;
  }

  release(runId: string): void {
    this.runs.delete(runId);
  }
}

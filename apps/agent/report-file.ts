import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { agentFile, type AgentReport } from '@cdui/host/agent-files';

/** Many changes within so long are written once. */
const PAUSE_MS = 100;

/** Keeps the file that says how the agent is. Readers see the old text or the new one, never a part. */
export class ReportFile {
  private timer: NodeJS.Timeout | null = null;
  private closed = false;
  /** Whether the file with the process's number is written. */
  private named = false;

  constructor(
    private readonly folder: string,
    private readonly report: () => AgentReport,
  ) {
    this.write();
  }

  changed(): void {
    if (this.closed) return;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.write();
    }, PAUSE_MS);
  }

  remove(): void {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    for (const file of [agentFile.report(this.folder), agentFile.pid(this.folder)]) rmSync(file, { force: true });
  }

  /** A full disk must not end the agent. */
  private write(): void {
    const file = agentFile.report(this.folder);
    try {
      if (!this.named) writeFileSync(agentFile.pid(this.folder), `${process.pid}\n`, { mode: 0o600 });
      this.named = true;
      writeFileSync(`${file}.draft`, `${JSON.stringify(this.report(), null, 2)}\n`, { mode: 0o600 });
      renameSync(`${file}.draft`, file);
    } catch {
      // The next change tries again.
    }
  }
}

import { execFileSync } from 'node:child_process';
import { entryPath } from '@cdui/host/entry';
import type { Figures, Report } from './figures';
import { median } from './rounds';

/** From typing `cdui --help` to its end, in a fresh process each time. */
export async function benchCli(report: Report): Promise<Figures> {
  const entry = entryPath('apps/cli/main');
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now();
    execFileSync(process.execPath, [entry, '--help'], { stdio: 'ignore' });
    return performance.now() - start;
  });
  report(`cdui --help: ${median(times).toFixed(0)} ms`);
  return { 'cli.help_ms': median(times) };
}

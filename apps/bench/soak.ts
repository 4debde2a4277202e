import { frame, openLog, RUN } from './event-log';
import type { Figures, Report } from './figures';

/** `CODEFYUI_BENCH_SOAK_EVENTS` asks for fewer. */
const EVENTS = Number(process.env['CODEFYUI_BENCH_SOAK_EVENTS'] ?? 10_000_000);
const LOOKS = 20;
const MIB = 1024 * 1024;

/**
 * Resident memory after ten million events of one run, and how much of it came after the first half: what grows with the number of events shows
 * there, what a start needs does not. A bare process of the same program is the probe.
 */
export async function benchSoak(report: Report): Promise<Figures> {
  const bare = process.memoryUsage.rss() / MIB;
  const bench = await openLog();
  const started = performance.now();
  const onFailed = ({ message }: { readonly message: string }): never => {
    throw new Error(message);
  };
  const recorder = await bench.log.open({ runId: RUN, startedAt: Date.now(), onFailed, onStarted: () => undefined });
  const sizes: number[] = [];
  for (let look = 1; look <= LOOKS; look++) {
    for (let i = Math.floor((EVENTS * (look - 1)) / LOOKS); i < Math.floor((EVENTS * look) / LOOKS); i++) {
      if (!recorder.emit(frame(i), performance.now() - started)) await recorder.drained();
    }
    sizes.push(process.memoryUsage.rss() / MIB);
    const rate = (EVENTS * look) / LOOKS / ((performance.now() - started) / 1000);
    report(`${Math.floor((EVENTS * look) / LOOKS)} events: ${sizes.at(-1)!.toFixed(0)} MiB (${rate.toFixed(0)}/s)`);
  }
  await recorder.close();
  await bench.close();
  return {
    'soak.events': EVENTS,
    'soak.rss_mb': sizes.at(-1)!,
    'soak.raw_rss_mb': bare,
    'soak.drift_mb': sizes.at(-1)! - sizes[LOOKS / 2 - 1]!,
  };
}

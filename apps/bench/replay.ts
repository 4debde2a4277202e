import { openLog, record, RUN } from './event-log';
import type { Figures, Report } from './figures';
import { openRawSqlite } from './raw-sqlite';
import { median } from './rounds';

const EVENTS = 1_000_000;
const ROUNDS = 3;
/** As the REST interface pages. */
const PAGE = 2000;
const PAGE_BYTES = 4 * 1024 * 1024;

/** A run's whole log of a million events, read by cursor as a client does that comes back. */
export async function benchReplay(report: Report): Promise<Figures> {
  const bench = await openLog();
  const raw = await openRawSqlite();
  await record(bench, EVENTS);
  await raw.insert(Array.from({ length: EVENTS / 1000 }, () => 1000));
  const times = { ours: [] as number[], raw: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const ours = await replay(bench.log);
    const theirs = await raw.readPages(PAGE);
    report(`${EVENTS} events: ${(ours / 1000).toFixed(2)} s; bare sqlite3 ${(theirs / 1000).toFixed(2)} s`);
    if (round === 0) continue;
    times.ours.push(ours);
    times.raw.push(theirs);
  }
  await bench.close();
  await raw.close();
  return { 'replay.1m_s': median(times.ours) / 1000, 'replay.raw_1m_s': median(times.raw) / 1000 };
}

async function replay(log: Awaited<ReturnType<typeof openLog>>['log']): Promise<number> {
  const started = performance.now();
  let after = 0;
  for (;;) {
    const page = await log.read(RUN, after, PAGE, PAGE_BYTES);
    if (page.events.length === 0) break;
    if (page.events[0]!.cursor !== after + 1) throw new Error(`a gap after ${after}`);
    after = page.cursor;
  }
  if (after !== EVENTS) throw new Error(`${after} of ${EVENTS} events`);
  return performance.now() - started;
}

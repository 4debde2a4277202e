import type { Figures, Report } from './figures';
import { RUN, openLog, record } from './event-log';
import { openRawSqlite } from './raw-sqlite';
import { median, ratio } from './rounds';

const EVENTS = 100_000;
const ROUNDS = 5;
const FOLLOWERS = 1000;

/**
 * Events recorded per second from one run, until all are durable. Beside it a bare sqlite3 connection that inserts the same payloads in the same
 * commit groups, and the same log with a thousand followers.
 */
export async function benchEvents(report: Report): Promise<Figures> {
  const times = { ours: [] as number[], raw: [] as number[], followed: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const { ms: ours, groups } = await measure(0);
    const raw = await measureRaw(groups);
    const { ms: followed, read } = await measure(FOLLOWERS);
    const line = `${rate(ours)}/s in ${groups.length} commits; bare sqlite3 ${rate(raw)}/s; with ${FOLLOWERS} followers ${rate(followed)}/s (${read} events read)`;
    report(`${round === 0 ? 'warming up' : `round ${round}`}: ${line}`);
    if (round === 0) continue;
    times.ours.push(ours);
    times.raw.push(raw);
    times.followed.push(followed);
  }
  return {
    'events.per_s': (EVENTS / median(times.ours)) * 1000,
    'events.raw_per_s': (EVENTS / median(times.raw)) * 1000,
    'events.raw_ratio': ratio(times.raw, times.ours),
    'events.followed_ratio': ratio(times.ours, times.followed),
  };
}

async function measure(followers: number): Promise<{ ms: number; groups: readonly number[]; read: number }> {
  const bench = await openLog();
  let read = 0;
  const follow = async ({ signal }: AbortController): Promise<void> => {
    let after = 0;
    while (!signal.aborted) {
      await bench.log.wait(RUN, after, 60_000, signal);
      const page = await bench.log.read(RUN, after, 2000, 4 * 1024 * 1024);
      after = page.cursor;
      read += page.events.length;
    }
  };
  const controllers = Array.from({ length: followers }, () => new AbortController());
  const following = controllers.map(follow);
  const ms = await record(bench, EVENTS);
  for (const controller of controllers) controller.abort();
  await Promise.all(following);
  const { groups } = bench;
  await bench.close();
  return { ms, groups, read };
}

async function measureRaw(groups: readonly number[]): Promise<number> {
  const raw = await openRawSqlite();
  const ms = await raw.insert(groups);
  await raw.close();
  return ms;
}

function rate(ms: number): string {
  return ((EVENTS / ms) * 1000).toFixed(0);
}

import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 40;

/** Asks again and again until there is an answer; null when there is none in time. Processes tell nobody when they have written a file. */
export async function until<T>(ms: number, ask: () => Promise<T | null> | T | null): Promise<T | null> {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() >= end) return null;
    await sleep(PAUSE_MS);
  }
}

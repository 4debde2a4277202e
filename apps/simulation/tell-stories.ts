import type { Fault } from './sim-server';
import { Story } from './story';

/** Each story has so many steps. */
export const STEPS = 200;

/** The first story, of those that the seeds decide, after which something was wrong. */
export async function firstProblem(seeds: Iterable<number>, fault: Fault = {}): Promise<string | null> {
  for (const seed of seeds) {
    const story = new Story(seed, fault);
    const problems = await story.tell(STEPS);
    if (problems.length > 0) return `Seed ${seed}: ${problems.join('\n')}\nAfter: ${story.told.join(', ')}`;
  }
  return null;
}

export function* upTo(last: number): Generator<number> {
  for (let seed = 1; seed <= last; seed++) yield seed;
}

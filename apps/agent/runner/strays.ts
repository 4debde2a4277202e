import { Strays } from '@cdui/host/process-tree';
import type { AgentLog } from '../core/world';

/** What this agent adopts of its runs. Every process that it starts is announced here. */
export const strays = new Strays();

/** How long the end of a run waits for its strays. */
const END_MS = 5_000;
/** How often is looked for what came or ended in between. */
const TIDY_MS = 30_000;

/** Ends what runs left behind that nothing else finds: what is a child of the agent, and was not started by it. */
export async function endStrays(): Promise<void> {
  await strays.end(END_MS);
}

/** Does so now and then. What cannot be ended is told once. @returns ends it */
export function tidyStrays(log: AgentLog): () => void {
  const told = new Set<string>();
  const timer = setInterval(() => {
    void strays.end(END_MS).then((left) => {
      for (const { pid, startTime } of left) {
        const known = `${pid} ${startTime}`;
        if (!told.has(known)) log.warn(`Process ${pid}, which a run left behind, cannot be ended`);
        told.add(known);
      }
    });
  }, TIDY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

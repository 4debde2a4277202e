import { randomUUID } from 'node:crypto';
import type { Clock, Ids } from '@cdui/execution';

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/** Random names: UUIDs without dashes. */
export const systemIds: Ids = { runId: () => randomUUID().replaceAll('-', '') };

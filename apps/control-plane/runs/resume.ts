import type { Placement, RunRecord } from '@cdui/execution';
import { isPlainObject } from '@cdui/protocol';
import type { Slot } from '@cdui/scheduling';

/** A worker's run as the next server finds it. */
export interface Resume {
  readonly attempt: number;
  readonly placement: Placement;
}

/** One that may have begun already. */
export interface LeftRun extends Resume {
  /** When its graph began to execute, in milliseconds since the epoch; null when nobody said so. */
  readonly beganAt: number | null;
}

/** What goes into the facts of a row when a worker gets the run: without it nobody can say later what the run holds. */
export function resumeFacts({ attempt, placement }: Resume): Readonly<Record<string, unknown>> {
  const { worker, slots, identities } = placement;
  return { worker_resume: { worker, attempt, slots, ...(identities && { identities }) } };
}

/** Null when the row does not say where the run is. */
export function resumeOf({ workerId, devices, facts }: RunRecord): LeftRun | null {
  const kept = facts?.['worker_resume'];
  if (workerId === null || devices === null || !isPlainObject(kept)) return null;
  const { attempt, slots, identities } = kept;
  if (typeof attempt !== 'number' || !Array.isArray(slots)) return null;
  const names = isPlainObject(identities) ? { identities: identities as Readonly<Record<string, string>> } : {};
  const began = facts?.['began_at'];
  const beganAt = typeof began === 'number' ? began : null;
  return { attempt, beganAt, placement: { worker: workerId, devices, slots: slots as readonly Slot[], ...names } };
}

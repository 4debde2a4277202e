import type { RunRecord } from '@cdui/execution';
import type { SubmissionOptions, WarningPayload } from '@cdui/protocol';
import { isPlainObject } from '@cdui/protocol';
import { ANY, LOCAL } from '@cdui/scheduling';
import { localPlace } from './placement-of';
import { anyPlace, placeAt, type WorkerPlace, workerPlace } from './worker-place';
import type { Machine, Workers } from './world';

/** What there is to place runs on. */
export interface Places {
  readonly machine: Pick<Machine, 'devices'>;
  readonly workers: Pick<Workers, 'get' | 'list'>;
}

/** Where a run waits. */
export interface Place {
  readonly at: WorkerPlace;
  /** Set when it computes elsewhere than it asked for. */
  readonly warning: WarningPayload | null;
}

/** What decides where a run may wait. */
export interface Placeable {
  /** The device as it was asked for. */
  readonly asked: string;
  readonly options: SubmissionOptions;
  /** Of all nodes that will execute; null for a run of this server. */
  readonly nodeTypes: readonly string[] | null;
}

/** Where a run shall wait. @throws CodedError when it could never run as asked */
export function placeFor({ asked, options, nodeTypes }: Placeable, { machine, workers }: Places): Place {
  const name = options.target?.worker ?? LOCAL;
  if (name === LOCAL) {
    const { warning, ...at } = localPlace(asked, options, machine.devices);
    return { at: { worker: LOCAL, ...at }, warning };
  }
  if (name === ANY) return { at: anyPlace(workers.list(), machine.devices, asked, options), warning: null };
  return { at: workerPlace(name, workers.get(name), asked, options, nodeTypes ?? []), warning: null };
}

/**
 * Checks runs that are submitted together: all of them, before anything of one is stored, so that they are refused whole or accepted whole.
 *
 * @throws CodedError of the first that could never run as asked
 */
export function placesForAll(runs: readonly Placeable[], places: Places): readonly Place[] {
  return runs.map((run) => placeFor(run, places));
}

/** What a run waited for that an earlier server accepted, should it have to wait again. */
export function placeOfRecord({ options, queueKey, devices, workerId }: RunRecord): WorkerPlace {
  const { target, device } = options;
  if (workerId === null || !isPlainObject(target) || typeof target['worker'] !== 'string') {
    return { worker: workerId ?? LOCAL, devices: devices ?? [queueKey], queueKey };
  }
  const asked = typeof device === 'string' ? device : 'cpu';
  const set = Array.isArray(target['devices']) ? (target['devices'] as readonly string[]) : null;
  return { ...placeAt(target['worker'], asked, { target: { devices: set } }), queueKey };
}

import type { SubmissionOptions } from '@cdui/protocol';
import { CodedError, reasonOf } from '@cdui/protocol';
import type { KnownWorker } from './world';

/** Where a run waits that asked for a worker by its name. */
export interface WorkerPlace {
  readonly worker: string;
  /** All of them are taken; empty when any one of `kind` will do. */
  readonly devices: readonly string[];
  readonly kind?: string;
  readonly queueKey: string;
}

/**
 * Refuses what can never run there. A worker that is away, or busy, is waited for.
 *
 * @param asked the device as it was asked for
 * @throws CodedError `worker_unknown`, `device_not_offered`, `worker_lacks_feature` or `worker_missing_types`
 */
export function workerPlace(
  name: string,
  worker: KnownWorker | null,
  asked: string,
  options: SubmissionOptions,
  nodeTypes: readonly string[],
): WorkerPlace {
  if (worker === null) {
    const message = `There is no worker "${name}": cdui workers list shows those that there are, and cdui agent start starts one`;
    throw new CodedError('worker_unknown', message, { option: 'target.worker', worker: name });
  }
  if (options.record_outputs) requireFeature(worker, 'record_outputs', 'record_outputs');
  if (options.provenance) requireFeature(worker, 'run_facts', 'provenance');
  const missing = worker.lacks(nodeTypes);
  if (missing.length > 0) {
    const { code, message, params } = reasonOf('worker_missing_types', { worker: name, types: missing });
    throw new CodedError(code, message, params);
  }
  const set = options.target?.devices;
  if (set) return { worker: name, devices: offered(worker, set), queueKey: `${name}/${set.join('+')}` };
  const device = asked === 'auto' ? 'cpu' : asked;
  if (device === 'cpu' || device.includes(':')) {
    return { worker: name, devices: offered(worker, [device]), queueKey: `${name}/${device}` };
  }
  if (!worker.devices.some((one) => one.startsWith(`${device}:`))) throw notOffered(worker, [device]);
  return { worker: name, devices: [], kind: device, queueKey: `${name}/${device}` };
}

function offered(worker: KnownWorker, devices: readonly string[]): readonly string[] {
  const missing = devices.filter((device) => !worker.devices.includes(device));
  if (missing.length > 0) throw notOffered(worker, missing);
  return devices;
}

function notOffered({ id, devices }: KnownWorker, missing: readonly string[]): CodedError {
  const message = `Worker ${id} does not offer ${missing.join(', ')}: it has ${devices.join(', ') || 'no devices'}`;
  const params = { option: 'target.devices', worker: id, missing, offered: devices };
  return new CodedError('device_not_offered', message, params);
}

function requireFeature({ id, capabilities }: KnownWorker, feature: string, option: string): void {
  if (capabilities.includes(feature)) return;
  const message = `Worker ${id} does not support ${option}: leave the option out, or take another worker`;
  throw new CodedError('worker_lacks_feature', message, { option, worker: id, feature });
}

import type { SubmissionOptions, Target } from '@cdui/protocol';
import { CodedError, reasonOf } from '@cdui/protocol';
import { ANY, canServe, LOCAL, offers } from '@cdui/scheduling';
import type { KnownWorker } from './world';

/** Where a run waits that asked for a worker by its name, or for any. */
export interface WorkerPlace {
  readonly worker: string;
  /** All of them are taken; empty when any one of `kind` will do. */
  readonly devices: readonly string[];
  readonly kind?: string;
  /** Capabilities that a worker must have, when it may be any. */
  readonly needs?: readonly string[];
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
  for (const { feature, option } of featuresFor(options)) requireFeature(worker, feature, option);
  const types = worker.lacks(nodeTypes);
  if (types.length > 0) {
    const { code, message, params } = reasonOf('worker_missing_types', { worker: name, types });
    throw new CodedError(code, message, params);
  }
  const place = placeAt(name, asked, options);
  const missing = place.devices.filter((device) => !worker.devices.includes(device));
  if (missing.length > 0) throw notOffered(worker, missing);
  if (!offers(worker, place)) throw notOffered(worker, [place.kind ?? asked]);
  return place;
}

/**
 * Where a run waits that takes any machine. Refuses what neither this server nor any worker that it has seen could ever take.
 *
 * @param devices of this server
 * @throws CodedError `device_not_offered`
 */
export function anyPlace(
  workers: readonly KnownWorker[],
  devices: readonly string[],
  asked: string,
  options: SubmissionOptions,
): WorkerPlace {
  const needs = featuresFor(options).map(({ feature }) => feature);
  const place = { ...placeAt(ANY, asked, options), needs };
  if ([...workers, { id: LOCAL, devices }].some((machine) => canServe(machine, place))) return place;
  const missing = place.kind === undefined ? place.devices : [place.kind];
  const features = needs.length > 0 ? ` together with ${needs.join(', ')}` : '';
  const message = `Nobody could ever run this: neither a worker that this server has seen nor the server itself offers ${missing.join(', ')}${features} to a run that takes any machine`;
  throw new CodedError('device_not_offered', message, { option: 'target.devices', worker: ANY, missing, needs });
}

/** What a run with these options waits for there, whoever it is. @param asked as for `workerPlace` */
export function placeAt(
  worker: string,
  asked: string,
  { target }: { readonly target: Pick<Target, 'devices'> | null },
): WorkerPlace {
  const set = target?.devices;
  if (set) return { worker, devices: set, queueKey: `${worker}/${set.join('+')}` };
  const device = asked === 'auto' ? 'cpu' : asked;
  const isConcrete = device === 'cpu' || device.includes(':');
  const wish = isConcrete ? { devices: [device] } : { devices: [], kind: device };
  return { worker, ...wish, queueKey: `${worker}/${device}` };
}

/** The options that not every worker knows, and the capability that says so. */
function featuresFor({
  record_outputs: records,
  provenance,
}: Pick<SubmissionOptions, 'record_outputs' | 'provenance'>): readonly {
  readonly option: string;
  readonly feature: string;
}[] {
  return [
    ...(records ? [{ option: 'record_outputs', feature: 'record_outputs' }] : []),
    ...(provenance ? [{ option: 'provenance', feature: 'run_facts' }] : []),
  ];
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

import { CodedError } from './errors';
import { isPlainObject, shown } from './checks';

/** Where a run shall execute: `options.target` of a submission, checked. */
export interface Target {
  /** `local`, `any`, a worker's name, or `<name>.<instance>`. */
  readonly worker: string;
  /** Concrete devices of one kind, the first of them the run's own; null when not asked for. */
  readonly devices: readonly string[] | null;
  readonly pool: 'one-shot' | null;
  /** Memory that the run may use on each card, in GiB; null when not asked for. */
  readonly memory_gib: number | null;
  readonly memory_source: 'user' | 'suggested' | null;
  /** Whether it waits for memory, or is refused when there is none now. */
  readonly wait: boolean;
}

/** Names of workers; `local` and `any` are reserved. */
export const WORKER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const CONCRETE_DEVICE = /^(?:cpu|(?:cuda|mps):(?:0|[1-9]\d{0,3}))$/;
const MEMORY_SOURCES = ['user', 'suggested'] as const;
const KEYS = ['worker', 'devices', 'pool', 'memory_gib', 'memory_source', 'wait'] as const;
/** More cards than any machine has. */
const MAX_DEVICES = 256;
const MAX_MEMORY_GIB = 1_048_576;

/**
 * Checks `options.target`, whether this server can serve it or not.
 *
 * @throws CodedError `unknown_option` or `invalid_target`, with the key and the value
 */
export function checkTarget(value: unknown): Target {
  if (!isPlainObject(value)) {
    throw invalid('target', value, 'must be an object, such as {"worker": "local"}');
  }
  for (const key of Object.keys(value)) {
    if (!KEYS.some((known) => known === key)) {
      const option = `target.${shortened(key)}`;
      const message = `The option ${option} is unknown: a target has ${KEYS.join(', ')}`;
      throw new CodedError('unknown_option', message, { option, known: KEYS });
    }
  }
  const read = (key: (typeof KEYS)[number]): unknown => (Object.hasOwn(value, key) ? (value[key] ?? null) : null);
  const pool = checkPool(read('pool'));
  const target: Target = {
    worker: checkWorker(read('worker'), pool === null ? 'local' : 'any'),
    devices: checkDevices(read('devices')),
    pool,
    memory_gib: checkMemory(read('memory_gib')),
    memory_source: checkSource(read('memory_source')),
    wait: checkWait(read('wait')),
  };
  checkLocal(target);
  return target;
}

/**
 * Refuses what this server does not do yet.
 *
 * @throws CodedError `target_unsupported` that names the part
 */
export function requireSupported({ worker, pool, memory_gib: memory }: Target): void {
  if (pool !== null) throw unsupported('target.pool', pool, 'name a worker instead, or use "any"');
  if (worker.includes('.')) throw unsupported('target.worker', worker, 'name a worker without an instance');
  if (memory !== null)
    throw unsupported('target.memory_gib', memory, 'leave it out: a card admits runs by their number');
}

function unsupported(option: string, value: string | number, instead: string): CodedError {
  const message = `${option} ${shown(value)} is not supported by this server: ${instead}`;
  return new CodedError('target_unsupported', message, { option, value });
}

function checkLocal({ worker, pool, memory_gib: memory }: Target): void {
  if (worker !== 'local') return;
  if (pool !== null) throw invalid('target.pool', pool, 'needs a worker: "local" is this server itself');
  if (memory !== null) {
    throw invalid('target.memory_gib', memory, 'is for cards that workers share by memory: leave it out with "local"');
  }
}

function checkWorker(value: unknown, initial: string): string {
  if (value === null) return initial;
  const rule = 'must be "local", "any", or the name of a worker: small letters, digits and dashes, up to 63';
  if (typeof value !== 'string') throw invalid('target.worker', value, rule);
  const [name = '', ...rest] = value.split('.');
  const [instance] = rest;
  const fine = WORKER_NAME.test(name) && rest.length <= 1 && (instance === undefined || WORKER_NAME.test(instance));
  if (!fine) throw invalid('target.worker', value, rule);
  if (instance !== undefined && (name === 'local' || name === 'any')) {
    throw invalid('target.worker', value, `must not give "${name}", which is no worker's name, an instance`);
  }
  return value;
}

function checkDevices(value: unknown): readonly string[] | null {
  if (value === null) return null;
  const rule = 'must be a list of devices such as ["cuda:0", "cuda:1"]';
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_DEVICES) {
    throw invalid('target.devices', value, rule);
  }
  const devices: string[] = [];
  for (const device of value as readonly unknown[]) {
    if (typeof device !== 'string' || !CONCRETE_DEVICE.test(device)) {
      throw invalid('target.devices', device, 'must hold cpu, cuda:N or mps:N only, with the number');
    }
    if (devices.includes(device)) throw invalid('target.devices', device, 'must name each device once');
    if (kindOf(device) !== kindOf(devices[0] ?? device)) {
      throw invalid('target.devices', device, `must be of one kind, and begins with ${devices[0]}`);
    }
    devices.push(device);
  }
  return devices;
}

function kindOf(device: string): string | undefined {
  return device.split(':')[0];
}

function checkPool(value: unknown): 'one-shot' | null {
  if (value === null || value === 'one-shot') return value;
  throw invalid('target.pool', value, 'must be "one-shot"');
}

function checkMemory(value: unknown): number | null {
  if (value === null) return null;
  if (typeof value === 'number' && value > 0 && value <= MAX_MEMORY_GIB) return value;
  throw invalid('target.memory_gib', value, `must be a number above 0 and up to ${MAX_MEMORY_GIB}, in GiB`);
}

function checkSource(value: unknown): Target['memory_source'] {
  const source = value === null ? null : MEMORY_SOURCES.find((known) => known === value);
  if (source === undefined) throw invalid('target.memory_source', value, 'must be "user" or "suggested"');
  return source;
}

function checkWait(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value === 'boolean') return value;
  throw invalid('target.wait', value, 'must be true or false');
}

function invalid(option: string, value: unknown, rule: string): CodedError {
  return new CodedError('invalid_target', `${option} ${rule}; it is ${shown(value)}`, { option, value: shown(value) });
}

function shortened(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}...` : key;
}

import type { Queued } from './run-queue';
import type { Slot } from './slots';

/** The server itself, among the workers. */
export const LOCAL = 'local';
/** Whatever machine can take the run first. */
export const ANY = 'any';

/** A run that waits, and what it asks for. */
export interface WaitingRun extends Queued {
  /** `local`, `any`, or a worker's id. */
  readonly worker: string;
  /** Takes all of them in one step; executes on the first. */
  readonly devices: readonly string[];
  /** Any one device of this kind will do, such as `cuda`; `devices` is empty then. */
  readonly kind?: string;
  /** Whether nothing else may run on the server meanwhile: the gate of seeded runs. A worker's runs have processes of their own, and no gate. */
  readonly alone?: boolean;
  /** Capabilities that a worker must have to get it; of a run that asked for any machine. */
  readonly needs?: readonly string[];
}

/** Where a run executes and what it holds there until it is released. */
export interface Placed {
  readonly run: WaitingRun;
  readonly worker: string;
  readonly devices: readonly string[];
  readonly slots: readonly Slot[];
  /** What the devices were when the run got them, as far as that was known: the run holds these, whatever their numbers mean later. */
  readonly identities?: Readonly<Record<string, string>>;
}

/** A machine that runs can be placed on. */
export interface WorkerState {
  readonly id: string;
  readonly online: boolean;
  readonly devices: readonly string[];
  /** Device -> the name of the physical one, the same whoever offers it; a device without one is nobody else's. */
  readonly identities?: Readonly<Record<string, string>>;
  /** Whether it runs on the server's own machine. */
  readonly sameHost?: boolean;
  /** Whether it has every node type of the server, as the server has it; taken for granted when it is not said. */
  readonly complete?: boolean;
  readonly capabilities?: readonly string[];
}

type Wish = Pick<WaitingRun, 'devices' | 'kind' | 'needs'>;

export function kindOf(device: string): string {
  return device.split(':')[0] ?? device;
}

/** Whether the machine has the devices that the run asks for. */
export function offers({ devices }: Pick<WorkerState, 'devices'>, { devices: asked, kind }: Wish): boolean {
  if (kind !== undefined) return devices.some((device) => kindOf(device) === kind);
  return asked.every((device) => devices.includes(device));
}

/** Whether a run that takes any machine may come to this one, as far as devices and features go. */
export function canServe(worker: Pick<WorkerState, 'id' | 'devices' | 'capabilities'>, wish: Wish): boolean {
  if (!offers(worker, wish)) return false;
  if (worker.id === LOCAL) return !isRenumbered(wish);
  return (wish.needs ?? []).every((feature) => worker.capabilities?.includes(feature));
}

/**
 * A worker's process sees the cards of its set numbered from `cuda:0` on; the server's own process does not, so that a node which names a card would
 * mean another one there.
 */
function isRenumbered({ devices }: Wish): boolean {
  return kindOf(devices[0] ?? '') === 'cuda' && (devices.length > 1 || devices[0] !== 'cuda:0');
}

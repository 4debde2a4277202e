import type { DeviceFacts } from '@cdui/protocol';

/** Where a worker's devices are. */
export interface Machine {
  /** As the worker tells it; null when it does not. */
  readonly id: string | null;
  /** Whether it is the server's own. */
  readonly isServers: boolean;
}

/**
 * Names of the physical devices behind a worker's: the same for everybody who offers them. A card has the name that its driver gives it; the
 * processor and `mps:0` are those of their machine, and on the server's own they are the server's. A device that nothing is known of has none.
 */
export function identitiesOf(devices: readonly DeviceFacts[], machine: Machine): Readonly<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const { device, uuid } of devices) {
    if (device.startsWith('cuda:')) {
      if (uuid !== null) known[device] = cardIdentity(uuid);
    } else if (machine.isServers) {
      known[device] = `local/${device}`;
    } else if (machine.id !== null) {
      known[device] = `machine:${machine.id}/${device}`;
    }
  }
  return known;
}

export function cardIdentity(uuid: string): string {
  return `card:${uuid}`;
}

/** Whether a connection comes from this machine, or through a tunnel that ends here. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '');
  return plain === '::1' || plain.startsWith('127.');
}

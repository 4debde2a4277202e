import { fingerprintOf, MachineFingerprint } from '@cdui/host';
import { MachineInventory } from '@cdui/host/devices';
import { cardIdentity } from '../../workers/identities';
import type { Machine } from '../world';

/** The embedded runtime serves the processor. */
const DEVICES: readonly string[] = ['cpu'];

/** This computer as runs in this process find it. */
export class LocalMachine implements Machine {
  readonly devices = DEVICES;
  private readonly machine: MachineFingerprint;

  constructor(customNodesDir: string) {
    this.machine = new MachineFingerprint({ customNodes: customNodesDir, devices: this.devices });
  }

  async cards(): Promise<Readonly<Record<string, string>>> {
    if (this.devices.every((device) => device === 'cpu')) return {};
    const facts = await new MachineInventory().read();
    return Object.fromEntries(
      facts.flatMap(({ device, uuid }) =>
        uuid !== null && device.startsWith('cuda:') && this.devices.includes(device)
          ? [[device, cardIdentity(uuid)]]
          : [],
      ),
    );
  }

  fingerprint(runtime: unknown): { readonly digest: string; readonly document: string } {
    return fingerprintOf(this.machine.document(runtime));
  }
}

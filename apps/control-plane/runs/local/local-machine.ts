import { fingerprintOf, MachineFingerprint } from '@cdui/host';
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

  fingerprint(runtime: unknown): { readonly digest: string; readonly document: string } {
    return fingerprintOf(this.machine.document(runtime));
  }
}

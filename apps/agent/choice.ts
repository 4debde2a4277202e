import { parseArgs } from 'node:util';
import { defaultAgentName } from '@cdui/host/agent-files';
import type { DeviceFacts } from '@cdui/protocol';
import { CodedError, WORKER_NAME } from '@cdui/protocol';
import { checkControl } from './connection/control-plane';

/** What the agent was started with. */
export interface Choice {
  readonly name: string;
  /** Null: the control plane that has the user data folder. */
  readonly control: string | null;
  /** Null: every device that a runtime serves. */
  readonly devices: readonly string[] | null;
  /** How long runs go on without a connection until they are stopped; null: for ever. In seconds. */
  readonly stopAfterSilenceS: number | null;
}

/** @throws CodedError `usage` */
export function readChoice(argv: readonly string[]): Choice {
  const { name, control, devices, 'stop-after-silence': silence } = values(argv);
  if (name !== undefined && !WORKER_NAME.test(name)) {
    throw usage(`"${name}" is no worker's name: use small letters, digits and dashes, 63 at most`);
  }
  const chosen = devices?.split(',').map((device) => device.trim().toLowerCase()) ?? null;
  const wrong = chosen?.find((device) => !/^(?:cpu|(?:cuda|mps):\d+)$/.test(device));
  if (wrong !== undefined) throw usage(`"${wrong}" is no device: give such as cpu,cuda:0`);
  if (silence !== undefined && !(Number(silence) > 0)) {
    throw usage(`--stop-after-silence is "${silence}": give a number of seconds above 0`);
  }
  return {
    name: name ?? defaultAgentName(),
    control: control === undefined ? null : checkControl(control),
    devices: chosen,
    stopAfterSilenceS: silence === undefined ? null : Number(silence),
  };
}

function values(argv: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    const options = { name: text, control: text, devices: text, 'stop-after-silence': text } as const;
    return parseArgs({ args: [...argv], options, strict: true }).values;
  } catch (error) {
    throw usage((error as Error).message);
  }
}

function usage(message: string): CodedError {
  return new CodedError('usage', message);
}

/** Those of the machine's devices that a runtime serves (`cuda:*` means every card) and that were chosen. */
export function offered(
  machine: readonly DeviceFacts[],
  served: readonly string[],
  chosen: readonly string[] | null,
): readonly DeviceFacts[] {
  return machine.filter(
    ({ device }) =>
      (chosen === null || chosen.includes(device)) &&
      served.some((one) => one === device || (one.endsWith(':*') && device.startsWith(one.slice(0, -1)))),
  );
}

import { RUN_COOKIE_VARIABLE } from '@cdui/host/process-tree';
import type { DeviceView } from './device-view';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that a run's process reads. Every other `CODEFYUI_*` is taken from it: some hold tokens, and none is its business. */
const KEPT: ReadonlySet<string> = new Set([
  'CODEFYUI_CPU_RUNTIME',
  'CODEFYUI_DEBUG',
  'CODEFYUI_RUNTIME_PROVIDERS',
  'CODEFYUI_RUN_OUTPUT_STORE_MAX_MB',
  'CODEFYUI_WORKER_NICE',
]);

/** Meant for the agent's own process, or another way to choose among cards. */
const REMOVED: ReadonlySet<string> = new Set([
  'GPU_DEVICE_ORDINAL',
  'HIP_VISIBLE_DEVICES',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
  'NODE_OPTIONS',
  'NODE_UNIQUE_ID',
  'ROCR_VISIBLE_DEVICES',
]);

export interface ChildEnvironmentOptions {
  readonly cookie: string;
  readonly customNodes: string | null;
  readonly presets: string | null;
}

/** The environment of a run's process, made from the agent's: without what is not for it, with what the agent decides. */
export function childEnvironment(agent: Environment, options: ChildEnvironmentOptions): Record<string, string> {
  const kept = Object.entries(agent).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0]),
  );
  return {
    PYTORCH_ENABLE_MPS_FALLBACK: '1',
    ...Object.fromEntries(kept),
    ...(options.customNodes !== null && { CODEFYUI_CUSTOM_NODES_DIR: options.customNodes }),
    ...(options.presets !== null && { CODEFYUI_PRESETS_DIR: options.presets }),
    [RUN_COOKIE_VARIABLE]: options.cookie,
  };
}

/** What tells runtimes which cards there are; set before one is loaded. The numbers are those of the PCI bus, as the inventory has them. */
export function deviceEnvironment({ visible }: DeviceView): Readonly<Record<string, string>> {
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: visible ?? '' };
}

function isKept(name: string): boolean {
  return name.startsWith('CODEFYUI_') ? KEPT.has(name) : !REMOVED.has(name);
}

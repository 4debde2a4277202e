import { CodedError } from '@cdui/protocol';

/** What the environment says about every run of this process. */
export interface HostSettings {
  readonly maxParallel: number;
  readonly debug: boolean;
  readonly payloadCapBytes: number;
  readonly cacheBytes: number;
  /** Modules that a session keeps from run to run. */
  readonly nodeStateBytes: number;
  /** Recorded outputs of all runs together. */
  readonly outputStoreBytes: number;
  /** Folder of installed presets; null: `presets` below the run's data folder. */
  readonly presets: string | null;
}

const MIB = 1024 * 1024;

/** @throws CodedError `invalid_setting` for a number that is none */
export function hostSettings(env: Readonly<Record<string, string | undefined>>): HostSettings {
  return {
    maxParallel: wholeNumber(env, 'CODEFYUI_MAX_PARALLEL_NODES', 4),
    debug: /^(1|true|yes|on)$/i.test(env['CODEFYUI_DEBUG'] ?? ''),
    payloadCapBytes: wholeNumber(env, 'CODEFYUI_RUN_EVENT_PAYLOAD_CAP_BYTES', 131_072),
    cacheBytes: wholeNumber(env, 'CODEFYUI_EXECUTION_CACHE_MAX_MB', 1024) * MIB,
    nodeStateBytes: wholeNumber(env, 'CODEFYUI_NODE_STATE_STORE_MAX_MB', 1024) * MIB,
    outputStoreBytes: wholeNumber(env, 'CODEFYUI_RUN_OUTPUT_STORE_MAX_MB', 2048) * MIB,
    presets: env['CODEFYUI_PRESETS_DIR']?.trim() || null,
  };
}

function wholeNumber(env: Readonly<Record<string, string | undefined>>, name: string, initial: number): number {
  const text = env[name]?.trim();
  if (!text) return initial;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new CodedError('invalid_setting', `${name} must be a whole number of at least 1, got "${text}"`, {
    setting: name,
    value: text,
  });
}

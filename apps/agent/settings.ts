import { homedir } from 'node:os';
import { join } from 'node:path';
import { SettingsReader } from '@cdui/host/settings-reader';
import { CodedError } from '@cdui/protocol';

/** Settings of a worker agent, read once at its start. Folders are absolute. */
export interface AgentSettings {
  readonly userDataDir: string;
  readonly customNodesDir: string;
  readonly presetsDir: string;
  /** Largest graph of an assignment, in bytes. */
  readonly maxRunBodyBytes: number;
  /** Processes that are started ahead of need. */
  readonly spare: number;
  /** By how much the processes of runs give way to others. */
  readonly nice: number;
  /** Modules with more runtimes; empty: none. */
  readonly runtimeProviders: string;
}

const MIB = 1024 * 1024;

/** @throws CodedError `invalid_settings` that names every bad variable at once, with its value and what it accepts */
export function readAgentSettings(env: Readonly<Record<string, string | undefined>>): AgentSettings {
  const read = new SettingsReader(env);
  const userDataDir = read.folder('USER_DATA_DIR', join(homedir(), '.codefyui'));
  const data = join(userDataDir, 'data');
  const settings: AgentSettings = {
    userDataDir,
    customNodesDir: read.folder('CUSTOM_NODES_DIR', join(data, 'custom_nodes')),
    presetsDir: read.folder('PRESETS_DIR', join(data, 'presets')),
    maxRunBodyBytes: read.whole('MAX_RUN_BODY_BYTES', 64 * MIB, { min: 1024 }),
    spare: read.whole('AGENT_SPARE', 0, { min: 0, max: 16 }),
    nice: read.whole('WORKER_NICE', 5, { min: 0, max: 19 }),
    runtimeProviders: read.given('RUNTIME_PROVIDERS') ?? '',
  };
  if (read.problems.length > 0) {
    throw new CodedError('invalid_settings', read.problems.join('\n'), { problems: read.problems });
  }
  return settings;
}

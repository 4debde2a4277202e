import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** The folder of the worker agent of that name. */
export function agentFolder(userData: string, name: string): string {
  return join(userData, 'agents', name);
}

/** The files in the folder of an agent. */
export const agentFile = {
  lock: (folder: string) => join(folder, 'agent.lock'),
  pid: (folder: string) => join(folder, 'agent.pid'),
  log: (folder: string) => join(folder, 'agent.log'),
  report: (folder: string) => join(folder, 'agent.status.json'),
  runs: (folder: string) => join(folder, 'agent-runs'),
};

/** What an agent says about itself, in a file: it listens nowhere. */
export interface AgentReport {
  readonly name: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: string;
  /** Which control plane it dials; null: the one that has the user data folder. */
  readonly control: string | null;
  /** Of `--stop-after-silence`, in seconds; null without it. */
  readonly stop_after_silence_s: number | null;
  readonly connected: boolean;
  /** Since when, in milliseconds since the epoch; null before the first try ended. */
  readonly since: number | null;
  /** Why there is no connection; null when there is one, or none was tried yet. */
  readonly reason: string | null;
  readonly worker_id: string | null;
  /** Ids of runs. */
  readonly running: readonly string[];
  readonly draining: boolean;
  readonly stopping: boolean;
  /** Why no new runs are taken besides; null when they are. */
  readonly refuses: string | null;
  /** That it offers. */
  readonly devices: readonly string[];
}

/** What the agent said last; null when there is nothing. Whether it lives is for the lock to say. */
export function readAgentReport(folder: string): AgentReport | null {
  try {
    return JSON.parse(readFileSync(agentFile.report(folder), 'utf8')) as AgentReport;
  } catch {
    return null;
  }
}

/** What to type for a command about the agent of that name, such as `stop`. */
export function agentCommand(verb: string, name: string): string {
  return `cdui agent ${verb}${name === defaultAgentName() ? '' : ` --name ${name}`}`;
}

const LONGEST = 63;
/** Names that mean something else where runs are sent. */
const RESERVED: readonly string[] = ['local', 'any'];

/** The name of an agent that was given none: that of the machine, in the letters that a worker's name may have. */
export function defaultAgentName(host: string = hostname()): string {
  const name = host
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, LONGEST);
  return name === '' || RESERVED.includes(name) ? 'worker' : name;
}

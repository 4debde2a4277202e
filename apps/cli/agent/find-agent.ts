import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  agentCommand,
  agentFile,
  agentFolder,
  type AgentReport,
  defaultAgentName,
  readAgentReport,
} from '@cdui/host/agent-files';
import { lockHolder } from '@cdui/host/single-instance';
import { CodedError, WORKER_NAME } from '@cdui/protocol';
import { serverFolders } from '../server/data-folder';
import { findServer } from '../server/server-files';

export { agentCommand };

/** An agent that runs. */
export interface FoundAgent {
  readonly name: string;
  readonly folder: string;
  readonly pid: number;
  readonly started: string | null;
  /** Null while it has not said anything yet. */
  readonly report: AgentReport | null;
}

/** The user data folder in which an agent is started: that of the server which runs, else the user's own. */
export async function folderForAgents(): Promise<string> {
  const folders = serverFolders(process.env);
  for (const folder of folders) if ((await findServer(folder)) !== null) return folder;
  return folders[0]!;
}

/** The agent of that name that runs; the lock says so. */
export async function findAgent(name: string = defaultAgentName()): Promise<FoundAgent | null> {
  for (const userData of serverFolders(process.env)) {
    const found = await agentIn(agentFolder(userData, name), name);
    if (found) return found;
  }
  return null;
}

export async function agentIn(folder: string, name: string): Promise<FoundAgent | null> {
  const holder = await lockHolder(agentFile.lock(folder));
  if (holder === null) return null;
  const { pid, started } = holder;
  const report = readAgentReport(folder);
  return { name, folder, pid, started, report: report?.pid === pid ? report : null };
}

/** All agents that run. */
export async function runningAgents(): Promise<readonly FoundAgent[]> {
  const found: FoundAgent[] = [];
  for (const userData of serverFolders(process.env)) {
    for (const name of namesIn(join(userData, 'agents'))) {
      const agent = await agentIn(agentFolder(userData, name), name).catch(unreadable);
      if (agent) found.push(agent);
    }
  }
  return found;
}

/** What to say where the agent that is meant does not run, with the names of those that do. */
export function noAgent(name: string | undefined, others: readonly string[]): string {
  const [first] = others;
  const hint = first === undefined ? '' : `; there is ${others.join(', ')}: "${agentCommand('stop', first)}" stops it`;
  return `No agent "${name ?? defaultAgentName()}" is running${hint}.`;
}

/** One that may not be looked at hides no other. */
function unreadable(error: unknown): null {
  if (error instanceof CodedError && error.code === 'lock_failed') return null;
  throw error;
}

/** Programs that show folders leave files of their own there. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => WORKER_NAME.test(name))
      .sort();
  } catch {
    // None was ever started.
    return [];
  }
}

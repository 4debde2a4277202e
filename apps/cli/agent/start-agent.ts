import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { agentFile, agentFolder, type AgentReport, defaultAgentName } from '@cdui/host/agent-files';
import { entryPath } from '@cdui/host/entry';
import { EXIT } from '../exit-codes';
import { Failure } from '../failure';
import { logSize, openLog, tailOfLog } from '../server/server-log';
import { until } from '../server/until';
import { agentIn, folderForAgents } from './find-agent';

/** The node files are looked at first; where they take long the agent takes long. */
const START_WAIT_MS = 30_000;
/** An agent that has no connection yet has so long to get one before it is said why not. */
const CONNECT_WAIT_MS = 3_000;

export interface AgentChoice {
  readonly name?: string;
  readonly control?: string;
  readonly devices?: string;
  readonly stopAfterSilence?: string;
}

export interface StartedAgent {
  readonly folder: string;
  readonly already: boolean;
  readonly report: AgentReport;
}

/**
 * Starts an agent in the background, in a session of its own; resolves when it is connected, or has said why it is not.
 * @throws Failure `start_failed` with the end of its log and its own exit code, `start_slow`
 */
export async function startAgent(choice: AgentChoice): Promise<StartedAgent> {
  const name = choice.name ?? defaultAgentName();
  const userData = await folderForAgents();
  const folder = agentFolder(userData, name);
  const running = await agentIn(folder, name);
  if (running) return { folder, already: true, report: await reported(folder, name, running.pid) };
  const file = agentFile.log(folder);
  const log = await openLog(file);
  const from = logSize(file);
  const child = launch(choice, userData, ['ignore', log, log]);
  closeSync(log);
  let over = false;
  child.once('exit', () => (over = true)).once('error', () => (over = true));
  const report = await reported(folder, name, child.pid ?? 0, () => {
    if (over) throw ending(file, from, child);
  });
  child.unref();
  return { folder, already: false, report };
}

/** Runs an agent in this terminal until it ends; returns its exit code. */
export async function runAgentInForeground(choice: AgentChoice): Promise<number> {
  const userData = await folderForAgents();
  return new Promise((resolve, reject) => {
    // A terminal's Ctrl+C goes to the whole group: the agent has it already, and a second one means "at once".
    const onInterrupt = (): void => void (process.stdin.isTTY || child.kill('SIGINT'));
    const onTerminate = (): void => void child.kill('SIGTERM');
    const onDrain = (): void => void child.kill('SIGUSR2');
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate).on('SIGHUP', onTerminate).on('SIGUSR2', onDrain);
    const child = launch(choice, userData, 'inherit');
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

function launch(choice: AgentChoice, userData: string, stdio: 'inherit' | ['ignore', number, number]): ChildProcess {
  const { name, control, devices, stopAfterSilence } = choice;
  const given = { name, control, devices, 'stop-after-silence': stopAfterSilence };
  const args = Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [`--${option}`, value]));
  return spawn(process.execPath, [entryPath('apps/agent/main'), ...args], {
    detached: stdio !== 'inherit',
    stdio,
    env: { ...process.env, CODEFYUI_USER_DATA_DIR: userData },
  });
}

/** What it says when it is connected, or after a while why it is not. */
async function reported(folder: string, name: string, pid: number, look = (): void => undefined): Promise<AgentReport> {
  let patience: number | null = null;
  const report = await until(START_WAIT_MS, async () => {
    look();
    const agent = await agentIn(folder, name);
    const said = agent?.pid === pid ? agent.report : null;
    if (!said) return null;
    if (said.connected) return said;
    // A server that is just starting is there in a moment.
    if (said.reason !== null) patience ??= performance.now() + CONNECT_WAIT_MS;
    return patience !== null && performance.now() > patience ? said : null;
  });
  if (report) return report;
  throw new Failure(
    'start_slow',
    `The agent (process ${pid}) has not said how it is within ${START_WAIT_MS / 1000} s. It goes on starting: see ${agentFile.log(folder)}`,
  );
}

function ending(file: string, from: number, { exitCode, signalCode }: ChildProcess): Failure {
  const how = signalCode ? `was ended by ${signalCode}` : `ended with ${exitCode}`;
  const said = tailOfLog(file, from, 20);
  return new Failure(
    'start_failed',
    `The agent did not start: it ${how}. ${said === '' ? `Its log is ${file}` : `It said:\n${said}`}`,
    exitCode ?? EXIT.failed,
  );
}

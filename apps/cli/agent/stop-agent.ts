import { agentCommand } from '@cdui/host/agent-files';
import { isAlive } from '@cdui/host/process-start';
import { Failure } from '../failure';
import { until } from '../server/until';
import { findAgent, type FoundAgent } from './find-agent';

/** Runs get 10 s, and 5 s more until they are killed: an agent that goes on for longer hangs. */
const STOP_WAIT_S = 25;
const KILL_WAIT_MS = 5_000;

export interface StopChoice {
  readonly name?: string;
  /** Whether its runs may come to their end. */
  readonly drain?: boolean;
  /** In seconds. */
  readonly timeout?: number;
}

export interface StoppedAgent {
  readonly name: string;
  readonly pid: number;
  readonly how: 'stopped' | 'killed';
  readonly ms: number;
}

/**
 * Ends an agent, and kills one that does not end in time; its runs end themselves then.
 * @returns null when none runs
 * @throws Failure `stop_failed`; `drain_slow` when its runs go on after the timeout, and so does it
 */
export async function stopAgent({ name, drain = false, timeout }: StopChoice): Promise<StoppedAgent | null> {
  const begun = performance.now();
  const agent = await findAgent(name);
  if (agent === null) return null;
  if (agent.pid === 0) throw new Failure('stop_failed', `Agent "${agent.name}" is just starting: try again`);
  const ended = (how: StoppedAgent['how']): StoppedAgent => ({
    ...{ name: agent.name, pid: agent.pid, how },
    ms: performance.now() - begun,
  });
  signal(agent, drain ? 'SIGUSR2' : 'SIGTERM');
  const waitS = timeout ?? (drain ? Infinity : STOP_WAIT_S);
  if (await gone(agent, waitS * 1000)) return ended('stopped');
  if (drain) {
    const message = `Agent "${agent.name}" still has runs after ${waitS} s: it ends with the last one. "${agentCommand('stop', agent.name)}" ends it now`;
    throw new Failure('drain_slow', message);
  }
  signal(agent, 'SIGKILL');
  if (await gone(agent, KILL_WAIT_MS)) return ended('killed');
  throw new Failure('stop_failed', `Process ${agent.pid} does not end, not even when it is killed`);
}

function signal({ pid, started }: FoundAgent, name: NodeJS.Signals): void {
  // Its number may be another process's by now.
  if (!isAlive(pid, started)) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    const why = code === 'EPERM' ? 'it belongs to another user' : String(code);
    throw new Failure('stop_failed', `Process ${pid} cannot be stopped: ${why}`);
  }
}

async function gone({ pid, started }: FoundAgent, ms: number): Promise<boolean> {
  return (await until(ms, () => (isAlive(pid, started) ? null : true))) === true;
}

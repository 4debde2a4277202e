import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { helloOf, ScriptedAgent } from '../control-plane/testing/scripted-agent';
import type { Figures, Report } from './figures';
import { median } from './rounds';
import { ServerProcess } from './server-process';
import { untilNodeRuns } from './submits';
import { graphOf, WorkerBench } from './worker-bench';

const ROUNDS = 40;
/** Rounds that warm up caches and compilers. */
const WARM = 5;
/** Nobody submits the next run the moment that one is over. In milliseconds. */
const IDLE_MS = 500;

/**
 * Between an idle server and an idle worker: from the answer to a submission until its assignment is with the agent, from sending it until its first
 * node runs (with a spare process and without), and from a cancel until the run's process hears of it.
 */
export async function benchDispatch(report: Report): Promise<Figures> {
  const assigned = await assignments();
  report(`submit returned to assignment: ${words(assigned)}`);
  const [warm, cancels] = await firstNodes({ CODEFYUI_AGENT_SPARE: '1' }, true);
  report(`submit to first node, with a spare: ${words(warm)}`);
  report(`cancel to signal in the subprocess: ${words(cancels)}`);
  const [cold] = await firstNodes({ CODEFYUI_AGENT_SPARE: '0' }, false);
  report(`submit to first node, without: ${words(cold)}`);
  return {
    'dispatch.p50_ms': median(assigned),
    'dispatch.p99_ms': p99(assigned),
    'worker.first_node.p50_ms': median(warm),
    'worker.first_node_cold.p50_ms': median(cold),
    'cancel.p50_ms': median(cancels),
    'cancel.p99_ms': p99(cancels),
  };
}

/** An agent in this process, so that both times are of one clock. */
async function assignments(): Promise<readonly number[]> {
  const server = await ServerProcess.start();
  const times: number[] = [];
  try {
    const agent = await ScriptedAgent.dial(server);
    agent.say(helloOf('bench'));
    await agent.of('welcome');
    agent.say({ type: 'run_alive', runs: [] });
    const body = JSON.stringify({ graph: graphOf('Wait'), options: { target: { worker: 'bench' } } });
    for (let round = 0; round < WARM + ROUNDS; round++) {
      await sleep(IDLE_MS / 5);
      const assignment = agent.of('assign', agent.frames.length).then((assign) => ({ assign, at: performance.now() }));
      await server.post('/api/runs', body);
      const returned = performance.now();
      const { assign, at } = await assignment;
      const outcome = { failed_nodes: [], skipped_nodes: [], peak_memory: [], seconds: 0 };
      agent.report(assign, 1, 'run_finished', {
        outcome: { status: 'succeeded', error: null, reason: null, ...outcome },
      });
      await agent.of('ack', 0, ({ run_id: runId }) => runId === assign.run_id);
      if (round >= WARM) times.push(Math.max(0, at - returned));
    }
    agent.close();
  } finally {
    await server.kill();
  }
  return times;
}

async function firstNodes(
  env: Readonly<Record<string, string>>,
  cancels: boolean,
): Promise<readonly [readonly number[], readonly number[]]> {
  const bench = await WorkerBench.start(env);
  const folder = mkdtempSync(join(tmpdir(), 'cdui-bench-'));
  const started: number[] = [];
  const heard: number[] = [];
  try {
    for (let round = 0; round < WARM + ROUNDS / 2; round++) {
      await sleep(IDLE_MS * 3);
      const file = join(folder, String(round));
      const begun = performance.now();
      const id = await bench.submitThere(graphOf('Listen', { file }));
      await untilNodeRuns(bench.server, id, 'start');
      const running = performance.now();
      await untilNodeRuns(bench.server, id, 'node');
      const asked = performance.timeOrigin + performance.now();
      await bench.server.post(`/api/runs/${id}/cancel`, '{}');
      await bench.ended(id);
      if (round < WARM) continue;
      started.push(running - begun);
      if (cancels) heard.push(Number(readFileSync(file, 'utf8')) - asked);
    }
  } finally {
    await bench.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  return [started, heard];
}

function p99(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil(0.99 * sorted.length) - 1]!;
}

function words(times: readonly number[]): string {
  const least = Math.min(...times).toFixed(1);
  return `${median(times).toFixed(1)} ms in the middle, ${least} to ${p99(times).toFixed(1)} ms`;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerFrame } from '@cdui/protocol';
import { helloOf, ScriptedAgent } from '../control-plane/testing/scripted-agent';
import type { Figures, Report } from './figures';
import { frame } from './event-log';
import { Fleet } from './fleet-process';
import { median } from './rounds';
import { ServerProcess } from './server-process';
import { graphOf } from './worker-bench';

const AGENTS = 5_000;
const PROCESSES = 2;
const OUTAGE_MS = 8_000;
const FRAMES = 100_000;
/** As an agent sends them: what is ready together, up to 64 KiB. */
const BATCH = 256;

/** What comes back when a server is started again after it was killed: its agents, and what a run reported meanwhile. */
export async function benchRecovery(report: Report): Promise<Figures> {
  return { ...(await comeBack(report)), ...(await replay(report)) };
}

async function comeBack(report: Report): Promise<Figures> {
  let server = await ServerProcess.start();
  const fleet = Array.from({ length: PROCESSES }, (_, index) => new Fleet(server, index, AGENTS / PROCESSES));
  try {
    await Promise.all(fleet.map((part) => part.ask(`dial ${Date.now()}`)));
    await server.crash();
    server = await server.again();
    fleet.forEach((part) => part.tell(`${server.url.replace('http', 'ws')}/ws/worker ${server.token}`));
    const since = Date.now();
    const all = await Promise.all(fleet.map((part) => part.ask(`dial ${since}`)));
    const last = Math.max(...all.map(Number)) / 1000;
    report(`${AGENTS} agents that dial at once: the last is welcome after ${last.toFixed(2)} s`);
    await server.crash();
    const coming = fleet.map((part) => part.ask('backoff'));
    await sleep(OUTAGE_MS);
    server = await server.again();
    const up = Date.now();
    fleet.forEach((part) => part.tell(`${server.url.replace('http', 'ws')}/ws/worker ${server.token}`));
    const times = (await Promise.all(coming)).flatMap((text) => JSON.parse(text) as number[]);
    const waits = times.map((at) => (at - up) / 1000).sort((a, b) => a - b);
    const p95 = waits[Math.floor(0.95 * waits.length)]!;
    report(`with real pauses: ${median(waits).toFixed(2)} s in the middle, 95 % within ${p95.toFixed(2)} s`);
    return { 'return.5000_s': last, 'return.backoff_p95_s': p95 };
  } finally {
    fleet.forEach((part) => part.end());
    await server.kill();
  }
}

/** A worker comes back with all that a run reported meanwhile, and others go on getting their assignments. */
async function replay(report: Report): Promise<Figures> {
  const server = await ServerProcess.start();
  try {
    const agent = await connected(server, 'away', []);
    const body = (worker: string): string =>
      JSON.stringify({ graph: graphOf('Wait'), options: { target: { worker } } });
    await server.post('/api/runs', body('away'));
    const assign = await agent.of('assign');
    agent.report(assign, 1, 'run_started', { visible_devices: null, device_aliases: {} });
    await agent.of('ack');
    agent.close();
    await sleep(200);
    const messages = batches(assign);
    const calm = await connected(server, 'calm', []);
    const again = await connected(server, 'away', [{ run_id: assign.run_id, attempt: 1, last_seq: FRAMES + 1 }]);
    const begun = performance.now();
    let over = false;
    const done = again.of('ack', 0, ({ seq }) => seq === FRAMES + 1).then(() => (over = true));
    const dispatches = dispatchWhile(server, calm, body('calm'), () => over);
    for (const message of messages) {
      again.socket.send(message);
      while (again.socket.bufferedAmount > 4 * 1024 * 1024) await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    const seconds = (performance.now() - begun) / 1000;
    const times = (await dispatches).sort((a, b) => a - b);
    const p99 = times[Math.ceil(0.99 * times.length) - 1] ?? 0;
    report(
      `${FRAMES} frames in ${seconds.toFixed(2)} s; ${times.length} dispatches meanwhile, up to ${p99.toFixed(1)} ms`,
    );
    calm.close();
    again.close();
    return { 'replay.100k_s': seconds, 'replay.dispatch_p99_ms': p99 };
  } finally {
    await server.kill();
  }
}

async function connected(
  server: ServerProcess,
  name: string,
  runs: readonly { readonly run_id: string; readonly attempt: number; readonly last_seq: number }[],
): Promise<ScriptedAgent> {
  const agent = await ScriptedAgent.dial(server);
  agent.say(helloOf(name));
  await agent.of('welcome');
  agent.say({ type: 'run_alive', runs });
  return agent;
}

function batches({ run_id, attempt }: Extract<ServerFrame, { type: 'assign' }>): readonly string[] {
  return Array.from({ length: Math.ceil(FRAMES / BATCH) }, (_, batch) => {
    const size = Math.min(BATCH, FRAMES - batch * BATCH);
    const frames = Array.from({ length: size }, (_, index) => {
      const seq = batch * BATCH + index + 2;
      return { type: 'event', run_id, attempt, seq, at_ms: seq, event: frame(seq) };
    });
    return JSON.stringify(frames);
  });
}

/** @returns milliseconds from each answer to a submission to its assignment */
async function dispatchWhile(
  server: ServerProcess,
  agent: ScriptedAgent,
  body: string,
  over: () => boolean,
): Promise<number[]> {
  const times: number[] = [];
  while (!over()) {
    const assignment = agent.of('assign', agent.frames.length).then((assign) => ({ assign, at: performance.now() }));
    await server.post('/api/runs', body);
    const returned = performance.now();
    const { assign, at } = await assignment;
    times.push(Math.max(0, at - returned));
    const outcome = { error: null, reason: null, failed_nodes: [], skipped_nodes: [], peak_memory: [], seconds: 0 };
    agent.report(assign, 1, 'run_finished', { outcome: { status: 'succeeded', ...outcome } });
    await agent.of('ack', 0, ({ run_id: runId }) => runId === assign.run_id);
  }
  return times;
}

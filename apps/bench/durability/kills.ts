import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '@cdui/api-client';
import { randomOf } from './random';
import { customNode, ServerProcess } from './server-process';
import { StoredRuns } from './stored-runs';
import { Witness } from './witness';

export interface KillReport {
  readonly kills: number;
  /** How many of them hit a server that was just starting. */
  readonly atStart: number;
  readonly runs: number;
  readonly events: number;
  /** Events that a client had seen before a kill, and runs that it had an answer for. */
  readonly seen: { readonly runs: number; readonly events: number };
  readonly violations: readonly string[];
}

/** Runs that one life of a server is asked for. */
const RUNS_PER_LIFE = 5;
/** A life ends at a random moment of this span after the first run was accepted; long enough for short runs to end. */
const LIFE_MS = 700;
/** Every so many lives ends while the server starts: then it files what the one before left, and may migrate. */
const START_SHARE = 0.2;
const START_MS = 1_200;

/** A run that reports without end of all kinds: frames, points, files and text. */
const CHATTER = `
  const fs = require('node:fs');
  const path = require('node:path');
  for (let i = 1; i <= params.int('count') && !context.cancelled; i++) {
    context.progress({ event: 'step', index: i, text: 'x'.repeat(i % 200) });
    context.metric('loss', 1 / i, i);
    if (i % 7 === 0) context.metric('not finite', NaN, i);
    if (i % 50 === 0) {
      context.log('step ' + i + '\\n');
      context.artifact('note', path.join(context.folders.output, 'note-' + i + '.txt'), { index: i });
    }
    if (i % 10 === 0) { await context.drained(); await new Promise((go) => setTimeout(go, 1)); }
  }
  return { out: params.int('count') };`;

/**
 * Kills a real server at random points while runs write events and clients submit, follow and cancel; after each start it looks whether
 * everything that was acknowledged is there, whole, and whether rows and logs are honest.
 */
export async function surviveKills(
  folder: string,
  kills: number,
  seed: number,
  report: (line: string) => void = () => undefined,
): Promise<KillReport> {
  const random = randomOf(seed);
  const witness = new Witness();
  const violations: string[] = [];
  customNode(folder, 'Chatter', CHATTER);
  let atStart = 0;
  for (let life = 1; life <= kills; life++) {
    const server = ServerProcess.spawn(folder);
    if (life > 1 && random() < START_SHARE) {
      atStart += 1;
      await sleep(random() * START_MS);
      await server.kill();
      continue;
    }
    const client = await server.ready();
    violations.push(...(await look(folder, witness, `before kill ${life}`)));
    await live(client, witness, random);
    await server.kill();
    if (life % 10 === 0) report(`${life} kills, ${witness.count.events} events seen, ${violations.length} violations`);
  }
  const server = ServerProcess.spawn(folder);
  await server.ready();
  violations.push(...(await look(folder, witness, 'at the end')), ...witness.failures);
  const stored = await open(folder);
  const { runs, events } = await stored.count();
  await stored.close();
  await server.kill();
  return { kills, atStart, runs, events, seen: witness.count, violations };
}

/** One life: runs of different lengths are submitted, some are followed, one may be cancelled. Ends at a random moment. */
async function live(client: ApiClient, witness: Witness, random: () => number): Promise<void> {
  const going: Promise<unknown>[] = [];
  const submits = (async () => {
    for (let index = 0; index < RUNS_PER_LIFE; index++) {
      const id = await witness.submit(client, graph(random() < 0.5 ? 20 : 5_000), `run ${index}`);
      if (id === null) return;
      if (index < 3) going.push(witness.follow(client, id));
      if (random() < 0.2) going.push(witness.cancel(client, id));
    }
  })();
  await Promise.race([submits, sleep(LIFE_MS)]);
  await sleep(random() * LIFE_MS);
  // What is under way goes on until the kill, and is not waited for here: it ends with the connection.
  void Promise.all([submits, ...going]);
}

function graph(count: number): Record<string, unknown> {
  return {
    nodes: [
      { id: 's', type: 'Start' },
      { id: 'n', type: 'Chatter', data: { params: { count } } },
    ],
    edges: [{ source: 's', sourceHandle: 'trigger', target: 'n', type: 'trigger' }],
  };
}

function open(folder: string): Promise<StoredRuns> {
  return StoredRuns.open(join(folder, 'data', 'codefyui.db'));
}

async function look(folder: string, witness: Witness, when: string): Promise<readonly string[]> {
  const stored = await open(folder);
  try {
    const active = (await stored.active()).map(({ id, status }) => `run ${id} is ${status}, and nothing runs`);
    const wrong = [...(await stored.violations()), ...(await witness.violations(stored)), ...active];
    witness.forgetEnded();
    return wrong.map((text) => `${when}: ${text}`);
  } finally {
    await stored.close();
  }
}

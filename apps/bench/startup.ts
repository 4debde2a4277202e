import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../control-plane/database/sqlite/connection';
import { ServerProcess } from './durability/server-process';
import type { Figures, Report } from './figures';
import { median } from './rounds';

const RUNS = 10_000;
const EVENTS_PER_RUN = 100;
const ROUNDS = 5;

/** From the start of the program to its first answer, with 10,000 runs and 1,000,000 events on disk; beside a bare server and an empty folder. */
export async function benchStartup(report: Report): Promise<Figures> {
  const [full, empty] = ['full', 'empty'].map((name) => mkdtempSync(join(tmpdir(), `cdui-startup-${name}-`)));
  try {
    await untilReady(full!);
    await fill(join(full!, 'data', 'codefyui.db'));
    await untilReady(empty!);
    const seconds: Record<'full' | 'empty' | 'bare', number[]> = { full: [], empty: [], bare: [] };
    for (let round = 0; round < ROUNDS; round++) {
      seconds.bare.push(await bare());
      seconds.empty.push(await untilReady(empty!));
      seconds.full.push(await untilReady(full!));
    }
    report(
      `ready with ${RUNS} runs and ${RUNS * EVENTS_PER_RUN} events: ${seconds.full.map((s) => s.toFixed(2)).join(', ')} s`,
    );
    report(
      `with an empty folder: ${median(seconds.empty).toFixed(2)} s; raw probe, a bare http server: ${median(seconds.bare).toFixed(2)} s`,
    );
    return {
      'startup.ready_s': median(seconds.full),
      'startup.empty_s': median(seconds.empty),
      'startup.raw_s': median(seconds.bare),
    };
  } finally {
    for (const folder of [full!, empty!]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function untilReady(folder: string): Promise<number> {
  const begun = performance.now();
  const server = ServerProcess.spawn(folder);
  const client = await server.ready();
  await client.get('/api/health');
  const seconds = (performance.now() - begun) / 1000;
  server.child.kill('SIGTERM');
  await server.ended;
  return seconds;
}

/** Ended runs as a year leaves them. The server made the tables; the rows are put in beside it. */
async function fill(file: string): Promise<void> {
  const database = await Connection.open(file, 'write', 5_000);
  const numbers = (count: number): string =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  await database.exec(`BEGIN;
    INSERT INTO exec_runs (id, name, lane, options, status, queue_key, queue_seq, created_at, started_at, finished_at, had_secrets, graph_snapshot)
      ${numbers(RUNS)} SELECT printf('%032x', i), 'run ' || i, 'queued', '{"device":"cpu"}', 'succeeded', 'cpu', i,
        1760000000000 + i * 1000, 1760000000100 + i * 1000, 1760000000900 + i * 1000, 0, '{"nodes":[],"edges":[]}' FROM n;
    INSERT INTO exec_run_events (run_id, cursor, type, payload, ts)
      ${numbers(EVENTS_PER_RUN)} SELECT r.id, n.i, CASE n.i WHEN ${EVENTS_PER_RUN} THEN 'execution_complete' ELSE 'node_status' END,
        CASE n.i WHEN ${EVENTS_PER_RUN} THEN 'null' ELSE '{"node_id":"training","status":"progress","outputs":[]}' END, r.started_at + n.i
      FROM exec_runs r CROSS JOIN n;
    COMMIT`);
  await database.close();
}

/** A program that does nothing but listen: what Node itself needs. */
async function bare(): Promise<number> {
  const begun = performance.now();
  const script = `require('node:http').createServer((_, r) => r.end('ok')).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  await (await fetch(`http://127.0.0.1:${port.toString().trim()}/`)).text();
  const seconds = (performance.now() - begun) / 1000;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return seconds;
}

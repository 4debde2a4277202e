import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import { ServerProcess } from './durability/server-process';
import type { Figures, Report } from './figures';
import { median } from './rounds';

const ROUNDS = 15;

/** From typing a command to its end, in a fresh process each time: help, and a list of runs from a server; beside a Node that does nothing. */
export async function benchCli(report: Report): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-bench-cli-'));
  const server = ServerProcess.spawn(folder);
  try {
    const client = await server.ready();
    const graph = { nodes: [{ id: 's', type: 'Start' }], edges: [] };
    for (let index = 0; index < 20; index++)
      await client.post('/api/runs', { body: { graph, name: `run ${index}` } }).catch(() => null);
    const cdui = (...args: readonly string[]): number =>
      milliseconds([entryPath('apps/cli/main'), ...args], { ...process.env, CODEFYUI_USER_DATA_DIR: folder });
    const times: Record<'help' | 'list' | 'bare', number[]> = { help: [], list: [], bare: [] };
    for (let round = 0; round < ROUNDS; round++) {
      times.bare.push(milliseconds(['-e', ''], process.env));
      times.help.push(cdui('--help'));
      times.list.push(cdui('runs', 'list'));
    }
    const [help, list, bare] = [times.help, times.list, times.bare].map(median) as [number, number, number];
    report(
      `cdui --help: ${help.toFixed(0)} ms; cdui runs list: ${list.toFixed(0)} ms; raw probe, node -e "": ${bare.toFixed(0)} ms`,
    );
    return { 'cli.help_ms': help, 'cli.list_ms': list, 'cli.raw_ms': bare };
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function milliseconds(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const start = performance.now();
  execFileSync(process.execPath, args, { stdio: 'ignore', env });
  return performance.now() - start;
}

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { entryPath } from '@cdui/host/entry';
import { times } from '../../../testing/long';
import { Database } from './database';
import { temporaryFolders } from './testing/temporary';

const newFolder = temporaryFolders();
const RUNS = ['a', 'b', 'c'];
const KILLS = times(6, 60);

describe('a server that is killed while it writes', () => {
  it('leaves a sound database without gaps, with all that was acknowledged', async () => {
    const file = join(newFolder(), 'codefyui.db');
    const acknowledged = new Map<string, number>();
    for (let kill = 1; kill <= KILLS; kill++) {
      await writeAndKill(file, acknowledged, 5 + ((kill * 7) % 40));
      const database = await Database.open(file, '3.1.0');
      expect(await database.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      const rows = await database.all<{
        id: string;
        n: number;
        first: number;
        last: number;
        recorded_seq: number;
        metrics: number;
      }>(
        `SELECT r.id, count(e.cursor) AS n, min(e.cursor) AS first, max(e.cursor) AS last, r.recorded_seq,
          (SELECT count(*) FROM exec_run_metrics m WHERE m.run_id = r.id) AS metrics
          FROM exec_runs r JOIN exec_run_events e ON e.run_id = r.id GROUP BY r.id`,
      );
      for (const { id, n, first, last, recorded_seq } of rows) {
        expect({ id, first, last, recorded_seq }).toEqual({ id, first: 1, last: n, recorded_seq: n });
        expect(n).toBeGreaterThanOrEqual(acknowledged.get(id) ?? 0);
      }
      expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([...acknowledged.keys()]));
      await database.close();
    }
    expect(acknowledged.size).toBe(RUNS.length);
  });
});

/** Ends the writer without a word after so many acknowledgements: in the middle of whatever it does then. */
async function writeAndKill(file: string, acknowledged: Map<string, number>, after: number): Promise<void> {
  const child = spawn(process.execPath, [entryPath('apps/control-plane/database/testing/crash-child'), file, ...RUNS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [id, cursor] = line.split(' ');
    acknowledged.set(id!, Number(cursor));
    seen += 1;
    if (seen === after) child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
}

interface Said {
  readonly acknowledged: number;
  readonly codes: readonly string[];
  readonly reasons: readonly string[];
  readonly whenFull: number;
  readonly failures: readonly (string | null)[];
  readonly integrity: string;
  readonly stored: number;
  readonly last: number;
}

describe('a disk that is full', () => {
  const child = entryPath('apps/control-plane/database/testing/full-disk-child');
  // A small file system of the child's own, in a namespace where it may mount one.
  const script = `mount -t tmpfs -o size=12m tmpfs "$0" && exec "$1" "$2" "$0"`;
  const mayMount = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;

  (mayMount ? it : it.skip)(
    'refuses what has no room (a file system of 12 MiB), keeps the rest, and goes on when there is room',
    () => {
      const folder = newFolder();
      const namespace = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, folder, process.execPath, child];
      const { stdout, stderr } = spawnSync('unshare', namespace, { encoding: 'utf8', timeout: 50_000 });
      expect(stderr).toBe('');
      const said = JSON.parse(stdout) as Said;
      expect(said.codes).toEqual(['storage_failed', 'storage_failed']);
      expect(said.reasons[0]).toMatch(/full|disk/i);
      expect(said.failures).toEqual(['storage_failed', null]);
      expect(said.integrity).toBe('ok');
      expect([said.stored, said.last]).toEqual([said.acknowledged, said.acknowledged]);
      expect(said.whenFull).toBe(said.acknowledged - 100);
    },
  );
});

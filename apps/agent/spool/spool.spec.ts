import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import type { LeftRun, Spool } from '../core/world';
import type { FileSpool } from './file-spool';
import { RunFolders } from './run-folders';
import { HEADER_BYTES } from './spool-header';
import { framesOf, seqsOf } from './testing/batches';

const MIB = 1024 * 1024;
const warned: string[] = [];
const open: FileSpool[] = [];
let root: string;
let folders: RunFolders;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cdui-spool-'));
  folders = new RunFolders(join(root, 'agent-runs'), { info: () => undefined, warn: (text) => warned.push(text) });
});
afterEach(async () => {
  // Those that were removed have closed their files.
  for (const spool of open.splice(0)) await spool.close().catch(() => undefined);
  rmSync(root, { recursive: true, force: true });
});

async function create(runId: string, attempt: number): Promise<FileSpool> {
  const spool = await folders.create(runId, attempt);
  open.push(spool);
  return spool;
}

const file = (): string => join(root, 'agent-runs', 'run', 'spool.jsonl');

/** The frames after one, as far as the last. */
async function rest(spool: Spool, after: number, last: number, bytes = 65_536): Promise<readonly number[]> {
  const all: number[] = [];
  while (after + all.length < last) {
    const batch = await spool.read(after + all.length, bytes);
    const seqs = seqsOf(batch);
    expect(batch.lastSeq).toBe(seqs.at(-1));
    all.push(...seqs);
  }
  return all;
}

const range = (first: number, last: number): readonly number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

async function reopened(): Promise<LeftRun & { readonly spool: FileSpool }> {
  const [left] = await folders.left();
  open.push(left!.spool);
  return left!;
}

describe('a spool', () => {
  it('gives back what is not acknowledged, whatever is appended, acknowledged and read, and after any restart', async () => {
    const step = fc.oneof(
      fc.record({ append: fc.integer({ min: 1, max: 400 }), bytes: fc.constantFrom(0, 30, 3_000, 100_000) }),
      fc.record({ acknowledge: fc.double({ min: 0, max: 1, noNaN: true }) }),
      fc.record({ read: fc.constantFrom(100, 5_000, 65_536) }),
      fc.record({ restart: fc.constantFrom('', '{"type":"met', 'x'.repeat(70_000), '{}\n{}\n') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        let spool = await create('run', 1);
        let [last, acked] = [0, 0];
        for (const now of steps) {
          if ('append' in now) {
            const count = now.bytes > 10_000 ? Math.min(now.append, 30) : now.append;
            await spool.append(framesOf('run', last + 1, count, now.bytes));
            last += count;
          } else if ('acknowledge' in now) {
            acked += Math.floor((last - acked) * now.acknowledge);
            spool.acknowledged(acked);
          } else if ('read' in now) {
            expect(await rest(spool, acked, last, now.read)).toEqual(range(acked + 1, last));
          } else {
            // What is under way is over when something else was read.
            if (acked < last) await spool.read(acked, 100);
            else await spool.append([]);
            appendFileSync(file(), now.restart);
            const left = await reopened();
            expect(left).toMatchObject({ runId: 'run', attempt: 1, lastSeq: last, finished: false });
            expect(left.acknowledged).toBeLessThanOrEqual(acked);
            expect(await rest(left.spool, left.acknowledged, last)).toEqual(range(left.acknowledged + 1, last));
            ({ spool } = left);
          }
        }
        await spool.remove();
        for (const one of open.splice(0)) await one.close().catch(() => undefined);
      }),
      { numRuns: times(60, 1_000) },
    );
  }, 300_000);

  it('is emptied when all is acknowledged, and still knows its numbers after a restart', async () => {
    const spool = await create('run', 1);
    await spool.append(framesOf('run', 1, 100));
    spool.acknowledged(100);
    await spool.append([]);
    expect(statSync(file()).size).toBe(HEADER_BYTES);
    expect(await reopened()).toMatchObject({ acknowledged: 100, lastSeq: 100 });
  });

  it('is rewritten when much of it is acknowledged, and goes on', async () => {
    const spool = await create('run', 1);
    for (let first = 1; first <= 1_800; first += 100) await spool.append(framesOf('run', first, 100, 10_000));
    expect(statSync(file()).size).toBeGreaterThan(17 * MIB);
    spool.acknowledged(1_700);
    await spool.append(framesOf('run', 1_801, 100, 10_000));
    expect(statSync(file()).size).toBeLessThan(3 * MIB);
    expect(readdirSync(join(root, 'agent-runs', 'run'))).toEqual(['spool.jsonl']);
    expect(await rest(spool, 1_700, 1_900)).toEqual(range(1_701, 1_900));
    expect(await reopened()).toMatchObject({ acknowledged: 1_700, lastSeq: 1_900 });
  });

  it('of which not even the header was written is no spool', async () => {
    await create('run', 1);
    writeFileSync(file(), '{"run_id"');
    expect(await folders.left()).toEqual([]);
    expect(warned.at(-1)).toContain(file());
    expect(existsSync(file())).toBe(false);
  });

  it('has every frame that was said to be written when its process is killed', async () => {
    for (let round = 0; round < times(3, 50); round++) {
      const child = spawn(process.execPath, [entryPath('apps/agent/spool/testing/append-child'), root]);
      let said = '';
      child.stdout.on('data', (text) => (said += String(text)));
      // It is killed in the middle of its work, at another place each time.
      const enough = ((round % 10) + 1) * 150;
      while (said.split('\n').length < enough) await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'close');
      const promised = Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1));
      const left = await reopened();
      expect(left.lastSeq).toBeGreaterThanOrEqual(promised);
      expect(await rest(left.spool, left.acknowledged, left.lastSeq)).toEqual(
        range(left.acknowledged + 1, left.lastSeq),
      );
      await left.spool.remove();
    }
  }, 600_000);

  const script = `mount -t tmpfs -o size=6m tmpfs "$0" && exec "$1" "$2" "$0"`;
  const mayMount = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;
  (mayMount ? it : it.skip)('says that the disk is full, keeps the rest, and goes on when there is room', () => {
    const child = entryPath('apps/agent/spool/testing/full-disk-child');
    const namespace = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, root, process.execPath, child];
    const { stdout, stderr } = spawnSync('unshare', namespace, { encoding: 'utf8', timeout: 50_000 });
    expect(stderr).toBe('');
    const answer = JSON.parse(stdout) as { last: number };
    expect(answer.last).toBeGreaterThan(5_000);
    expect(answer).toMatchObject({ code: 'disk_full', left: answer.last, roomBefore: false, roomAfter: true });
  });
});

describe('folders of runs', () => {
  it('go when a newer attempt comes', async () => {
    await create('run', 1);
    writeFileSync(join(folders.folder('run'), 'output.log'), 'first');
    await create('run', 2);
    expect(readdirSync(folders.folder('run'))).toEqual(['spool.jsonl']);
    expect(await reopened()).toMatchObject({ attempt: 2, lastSeq: 0 });
  });

  it('stay when the run is over, the newest fifty, and those that are not over', async () => {
    mkdirSync(join(root, 'agent-runs', '.spare-0'), { recursive: true });
    const going = await create('going', 1);
    for (let index = 0; index < 55; index++) {
      const spool = await create(`run-${index}`, 1);
      writeFileSync(join(folders.folder(`run-${index}`), 'output.log'), 'said');
      await spool.remove();
    }
    const names = readdirSync(join(root, 'agent-runs'));
    expect(names).toHaveLength(52);
    expect(names).toEqual(expect.arrayContaining(['going', '.spare-0', 'run-54']));
    await going.remove();
  });

  it('cannot be made where a file is in the way, and that is no full disk', async () => {
    writeFileSync(join(root, 'agent-runs'), '');
    await expect(create('run', 1)).rejects.toMatchObject({ code: 'spool_failed' });
  });
});

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodedError } from '@cdui/protocol';
import { RunFolders } from '../run-folders';
import { framesOf, seqsOf } from './batches';

/** Fills the file system of a folder through a spool; prints what happened. */
async function main(folder: string): Promise<void> {
  const ballast = join(folder, 'ballast');
  writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024));
  const log = { info: () => undefined, warn: () => undefined };
  const folders = new RunFolders(join(folder, 'agent-runs'), log);
  const spool = await folders.create('run', 1);
  let last = 0;
  let code = '';
  while (code === '') {
    try {
      await spool.append(framesOf('run', last + 1, 500, 100));
      last += 500;
    } catch (error) {
      ({ code } = error as CodedError);
    }
  }
  const roomBefore = await folders.hasRoom();
  let read = 0;
  while (read < last) {
    const seqs = seqsOf(await spool.read(read, 65_536));
    if (seqs[0] !== read + 1) throw new Error(`${seqs[0]} after ${read}`);
    read += seqs.length;
  }
  const [left] = await new RunFolders(join(folder, 'agent-runs'), log).left();
  rmSync(ballast);
  const roomAfter = await folders.hasRoom();
  await spool.append(framesOf('run', last + 1, 500, 100));
  process.stdout.write(JSON.stringify({ code, last, left: left?.lastSeq, roomBefore, roomAfter }));
}

void main(process.argv[2]!);

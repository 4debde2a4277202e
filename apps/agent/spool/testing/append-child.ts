import { join } from 'node:path';
import { RunFolders } from '../run-folders';
import { framesOf } from './batches';

/** Appends to the spool of a run until it is killed, and says after each time how far it came. */
async function main(folder: string): Promise<void> {
  const log = { info: () => undefined, warn: () => undefined };
  const spool = await new RunFolders(join(folder, 'agent-runs'), log).create('run', 1);
  for (let seq = 1; ; seq += 7) {
    await spool.append(framesOf('run', seq, 7, seq % 300));
    // The other end may read late; what it reads was in the file before.
    process.stdout.write(`${seq + 6}\n`);
    if (seq % 5 === 0) spool.acknowledged(seq);
  }
}

void main(process.argv[2]!);

import { access, mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@cdui/host/make-folder';
import { CodedError } from '@cdui/protocol';
import type { AgentLog, LeftRun, RunSpools } from '../core/world';
import { diskError } from './disk-errors';
import { FileSpool } from './file-spool';
import { recoverSpool } from './recover-spool';

export const SPOOL_FILE = 'spool.jsonl';
export const OUTPUT_FILE = 'output.log';

/** So many folders of runs that are over are kept, for what they printed. */
const KEEP = 50;
/** There is room when there is this much. */
const ROOM_BYTES = 1024 * 1024;

/** The folders of an agent's runs: `agent-runs/<run id>/`, with the spool until everything in it is durable elsewhere. */
export class RunFolders implements RunSpools {
  constructor(
    readonly root: string,
    private readonly log: AgentLog,
  ) {}

  folder(runId: string): string {
    return join(this.root, runId);
  }

  async left(): Promise<readonly (LeftRun & { readonly spool: FileSpool })[]> {
    const left: (LeftRun & { readonly spool: FileSpool })[] = [];
    for (const name of await this.names()) {
      const path = join(this.root, name, SPOOL_FILE);
      if (!(await exists(path))) continue;
      // Of a rewriting that was not finished.
      await rm(`${path}.draft`, { force: true });
      const recovered = await recoverSpool(path);
      if (recovered?.runId !== name) {
        this.log.warn(`${path} is no spool, and is removed`);
        await rm(path, { force: true });
        continue;
      }
      const { runId, attempt, acknowledged, lastSeq, finished } = recovered;
      const spool = await FileSpool.reopen(path, runId, attempt, recovered, () => this.prune());
      left.push({ runId, attempt, acknowledged, lastSeq, finished, spool });
    }
    return left;
  }

  async create(runId: string, attempt: number): Promise<FileSpool> {
    const folder = this.folder(runId);
    try {
      await makeFolder(this.root);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      await mkdir(folder);
    } catch (error) {
      throw diskError(causeOf(error), folder);
    }
    return FileSpool.create(join(folder, SPOOL_FILE), runId, attempt, () => this.prune());
  }

  async hasRoom(): Promise<boolean> {
    const probe = join(this.root, '.room');
    try {
      await makeFolder(this.root);
      const { bavail, bsize } = await statfs(this.root);
      if (bavail * bsize < ROOM_BYTES) return false;
      await writeFile(probe, Buffer.alloc(ROOM_BYTES / 16));
      return true;
    } catch (error) {
      // Too many open files, say, are no want of room.
      return diskError(causeOf(error), this.root).code !== 'disk_full';
    } finally {
      await rm(probe, { force: true }).catch(() => undefined);
    }
  }

  /** Removes the oldest folders of runs that are over. */
  private async prune(): Promise<void> {
    const over: { readonly folder: string; readonly at: number }[] = [];
    for (const name of await this.names()) {
      const folder = this.folder(name);
      try {
        if (!(await exists(join(folder, SPOOL_FILE)))) over.push({ folder, at: (await stat(folder)).mtimeMs });
      } catch {
        // It went while it was looked at.
      }
    }
    for (const { folder } of over.sort((a, b) => b.at - a.at).slice(KEEP)) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  private async names(): Promise<readonly string[]> {
    try {
      const entries = await readdir(this.root, { withFileTypes: true });
      // Others, such as spare processes, have names with a dot.
      return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/** `makeFolder` tells of the system's error in words of its own. */
function causeOf(error: unknown): unknown {
  return error instanceof CodedError ? (error.cause ?? error) : error;
}

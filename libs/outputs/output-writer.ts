import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '@cdui/protocol';
import { capturedFiles, isPartial, isRunId, KEPT_RUNS, partialName, toDrop } from './folders';
import type { RecordedPort } from './recorded-port';
import { filesOf, INDEX_FILE, indexText, parseIndex, tensorFileName, type RunIndex } from './run-index';

export interface OutputWriterOptions {
  /** The folder that holds a folder for each run. */
  readonly root: string;
  readonly runId: string;
  /** All captures together; the oldest runs go when there are more. */
  readonly maxBytes: number;
  readonly maxRuns?: number;
}

/** A folder that nobody wrote to for so long was left by a process that died. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Writes the captures of one run: into a folder beside the others, renamed into place when all is there. Until then the run has none, whenever
 * the process dies. Synchronous: for a thread or process of its own.
 */
export class OutputWriter {
  private readonly folder: string;
  /** In the order in which they were heard of; null until something is known. */
  private readonly ports = new Map<string, RecordedPort | null>();
  private files = 0;

  /** @throws CodedError `invalid_run_id`, `outputs_not_written` when the folder cannot be made */
  constructor(private readonly options: OutputWriterOptions) {
    const { root, runId } = options;
    if (!isRunId(runId)) {
      throw new CodedError('invalid_run_id', `"${runId}" cannot name a folder of recorded outputs`, { run_id: runId });
    }
    this.folder = join(root, partialName(runId, randomBytes(6).toString('hex')));
    this.attempt(() => mkdirSync(this.folder, { recursive: true }));
  }

  /** A file for the tensors of some ports, below the run's folder; whoever asks writes it. */
  tensorFile(): { readonly name: string; readonly path: string } {
    this.files += 1;
    const name = tensorFileName(this.files);
    return { name, path: join(this.folder, name) };
  }

  /** Gives a port its place in the order, before it is known what was recorded of it. */
  expect(port: Pick<RecordedPort, 'node_id' | 'port'>): void {
    const key = keyOf(port);
    if (!this.ports.has(key)) this.ports.set(key, null);
  }

  /** What is known of a port; a second time replaces the first. */
  add(port: RecordedPort): void {
    this.ports.set(keyOf(port), port);
  }

  /**
   * Makes it the run's captures, in place of older ones of the same run.
   * @throws CodedError `outputs_not_written`; nothing of it is left then
   */
  commit(): RunIndex {
    const { runId, root } = this.options;
    return this.attempt(() => {
      const draft: RunIndex = {
        run_id: runId,
        recorded_at: new Date().toISOString(),
        bytes: 0,
        ports: [...this.ports.values()].filter((port) => port !== null),
      };
      const bytes = filesOf(draft).reduce((sum, name) => sum + statSync(join(this.folder, name)).size, 0);
      const index = { ...draft, bytes };
      writeDurably(join(this.folder, INDEX_FILE), indexText(index));
      syncFolder(this.folder);
      this.place(join(root, runId));
      syncFolder(root);
      return index;
    });
  }

  /** Drops the oldest runs over the limits, never this one, and what processes that died left behind. */
  enforceLimits(): void {
    const { root, runId, maxBytes, maxRuns = KEPT_RUNS } = this.options;
    const names = readdirSync(root);
    for (const name of names) {
      if (isPartial(name) && Date.now() - modified(join(root, name)) > ABANDONED_MS) remove(join(root, name));
    }
    const indexes = names.flatMap((name) => readIndex(join(root, name)) ?? []);
    for (const index of toDrop(indexes, runId, { runs: maxRuns, bytes: maxBytes }))
      dropCaptures(join(root, index.run_id));
  }

  /** Removes what was written. Never throws. */
  abandon(): void {
    remove(this.folder);
  }

  /** A run that was recorded before loses that; a folder in which its nodes left files of their own keeps those. */
  private place(target: string): void {
    dropCaptures(target);
    if (!existsSync(target)) {
      renameSync(this.folder, target);
      return;
    }
    const names = readdirSync(this.folder).filter((name) => name !== INDEX_FILE);
    for (const name of [...names, INDEX_FILE]) renameSync(join(this.folder, name), join(target, name));
    syncFolder(target);
    remove(this.folder);
  }

  private attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.abandon();
      const { message } = error as Error;
      const { runId } = this.options;
      throw new CodedError(
        'outputs_not_written',
        `The outputs of run ${runId} could not be recorded: ${message}`,
        { run_id: runId },
        { cause: error },
      );
    }
  }
}

function keyOf({ node_id: nodeId, port }: Pick<RecordedPort, 'node_id' | 'port'>): string {
  return JSON.stringify([nodeId, port]);
}

/** The captures in a folder; null where there are none that can be read. */
function readIndex(folder: string): RunIndex | null {
  const path = join(folder, INDEX_FILE);
  try {
    return parseIndex(readFileSync(path, 'utf8'), path);
  } catch {
    return null;
  }
}

/** Removes captures and the folder, unless there is something else in it. */
function dropCaptures(folder: string): void {
  const index = readIndex(folder);
  if (!index) return;
  for (const path of capturedFiles(folder, index)) rmSync(path, { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // Files of the run's nodes are there: they stay.
  }
}

function modified(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return Infinity;
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is swept later.
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o644);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(folder: string): void {
  // Windows does not open folders; there a rename is durable without it.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { CatalogAnswer } from '../catalog-helper/answer';
import type { AgentLog } from '../core/world';
import { readCatalog } from './read-catalog';

/** Editors write a file in several steps; one change should be looked at once. */
const QUIET_MS = 200;

/** What is known of the node types; null when they could not be looked at. */
export type Looked = (answer: CatalogAnswer | null) => void;

/** Keeps what the agent says of its node types true: looks at the start, and again when the folder of custom nodes has changed. */
export class Catalog {
  private watcher: FSWatcher | null = null;
  private timer: NodeJS.Timeout | undefined;
  private seen = '';
  private looking: Promise<void> | null = null;
  private closed = false;

  constructor(
    private readonly folder: string,
    private readonly log: AgentLog,
    private readonly looked: Looked,
  ) {}

  /** Looks for the first time, then whenever something changes. Resolves after `looked` was called once. */
  start(): Promise<void> {
    this.seen = stateOf(this.folder);
    this.watch();
    return this.look();
  }

  /** Looks again if the folder is not what it was: where it cannot be watched, or came into being, somebody has to ask. */
  check(): void {
    if (this.closed) return;
    this.watch();
    const state = stateOf(this.folder);
    if (state === this.seen) return;
    this.seen = state;
    // One that is under way may have begun before the change.
    this.looking = (this.looking ?? Promise.resolve()).then(() => this.look());
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.watcher?.close();
  }

  private async look(): Promise<void> {
    if (this.closed) return;
    try {
      const answer = await readCatalog(this.folder);
      for (const problem of answer.problems) this.log.warn(problem);
      if (!this.closed) this.looked(answer);
    } catch (error) {
      this.log.warn((error as Error).message);
      if (!this.closed) this.looked(null);
    }
  }

  private watch(): void {
    if (this.watcher !== null) return;
    try {
      this.watcher = watch(this.folder, { persistent: false }, () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.check(), QUIET_MS);
        this.timer.unref();
      });
      this.watcher.on('error', () => {
        this.watcher?.close();
        this.watcher = null;
      });
    } catch {
      // There is no such folder yet.
      this.watcher = null;
    }
  }
}

/** The folder's files with their sizes and times of change. */
function stateOf(folder: string): string {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => {
        const { size, mtimeMs, ino } = statSync(join(folder, name));
        return `${name}\0${size}\0${mtimeMs}\0${ino}`;
      })
      .join('\n');
  } catch {
    return '';
  }
}

import type { FSWatcher } from 'node:fs';
import { existsSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

// Editors write a file in several steps (truncate, write, rename); one change should cause one reload.
const QUIET_MS = 150;

/**
 * Calls `onChange` once things in the folder have been quiet for a moment after a change. The folder may appear and vanish at any time:
 * while it is missing its parent is watched for it. Errors of the watcher end in silence: an explicit reload always works.
 */
export function watchFolder(folder: string, onChange: () => void): () => void {
  let watcher: FSWatcher | null = null;
  let timer: NodeJS.Timeout | null = null;
  let watchesFolder = false;

  const stopWatching = (): void => {
    watcher?.close();
    watcher = null;
  };
  const changed = (): void => {
    timer?.refresh();
    timer ??= setTimeout(() => {
      timer = null;
      if (watchesFolder !== existsSync(folder)) startWatching();
      onChange();
    }, QUIET_MS);
    timer.unref();
  };
  const startWatching = (): void => {
    stopWatching();
    watchesFolder = existsSync(folder);
    try {
      watcher = watchesFolder
        ? watch(folder, { recursive: true, persistent: false }, changed)
        : watch(dirname(folder), { persistent: false }, (_event, name) => {
            if (name === basename(folder)) changed();
          });
      watcher.on('error', () => {
        stopWatching();
        changed();
      });
    } catch {
      watcher = null;
    }
  };

  startWatching();
  return () => {
    if (timer) clearTimeout(timer);
    timer = null;
    stopWatching();
  };
}

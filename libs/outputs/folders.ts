import { join } from 'node:path';
import type { RunIndex } from './run-index';
import { filesOf, INDEX_FILE } from './run-index';

/** Captures live below this folder of the data folder, a folder for each run. */
export const OUTPUTS_FOLDER = 'outputs';
/** Runs whose captures are kept. */
export const KEPT_RUNS = 20;

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const PARTIAL = /^\..+\.partial$/;

/** Whether the id can name a folder; one that cannot has no captures. */
export function isRunId(runId: string): boolean {
  return RUN_ID.test(runId);
}

export function partialName(runId: string, tag: string): string {
  return `.${runId}-${tag}.partial`;
}

export function isPartial(name: string): boolean {
  return PARTIAL.test(name);
}

/** The files of a run's captures: the index first, so that what is half removed is no longer there for anybody. */
export function capturedFiles(folder: string, index: RunIndex): readonly string[] {
  return [INDEX_FILE, ...filesOf(index)].map((name) => join(folder, name));
}

/** The captures that must go, the oldest first, for the rest to be within the limits. `newest` is never among them. */
export function toDrop(
  indexes: readonly RunIndex[],
  newest: string,
  limits: { readonly runs: number; readonly bytes: number },
): readonly RunIndex[] {
  const older = indexes
    .filter(({ run_id: runId }) => runId !== newest)
    .sort((a, b) => a.recorded_at.localeCompare(b.recorded_at));
  let runs = indexes.length;
  let bytes = indexes.reduce((sum, index) => sum + index.bytes, 0);
  const dropped: RunIndex[] = [];
  for (const index of older) {
    if (runs <= limits.runs && bytes <= limits.bytes) break;
    dropped.push(index);
    runs -= 1;
    bytes -= index.bytes;
  }
  return dropped;
}

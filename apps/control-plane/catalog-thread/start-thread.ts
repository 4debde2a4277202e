import { Worker } from 'node:worker_threads';
import { entryPath } from '@cdui/host/entry';
import type { CatalogThreadData } from './messages';

/** Starts the thread that holds the node code. It takes its first questions before it has loaded the folders. */
export function startCatalogThread(folders: CatalogThreadData): Worker {
  const { customNodesDir, presetsDir } = folders;
  const workerData: CatalogThreadData = { customNodesDir, presetsDir };
  return new Worker(entryPath('apps/control-plane/catalog-thread/thread'), { workerData });
}

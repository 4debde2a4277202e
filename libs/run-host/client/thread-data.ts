import type { MessagePort } from 'node:worker_threads';

/** The run host's thread, below the root. */
export const RUN_HOST_ENTRY = 'libs/run-host/thread';

/** What the thread is started with. */
export interface RunHostThreadData {
  /** Its end of the connection to the runtime's thread. */
  readonly runtime: { readonly port: MessagePort; readonly flag: SharedArrayBuffer };
  readonly stop: SharedArrayBuffer;
  /** Whether it serves a canvas session, and keeps an execution cache from run to run. */
  readonly session: boolean;
  /** Loaded ahead of the first run. */
  readonly customNodes: string | null;
  readonly presets: string | null;
}

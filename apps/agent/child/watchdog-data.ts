import type { StopReason } from '@cdui/protocol';
import type { ControlMessage } from '../runner/control';

/** The thread that watches over the process, below the root. */
export const WATCHDOG_ENTRY = 'apps/agent/child/watchdog';

export interface WatchdogData {
  /** Of a `StopWord`. */
  readonly stop: SharedArrayBuffer;
  readonly cookie: string;
}

/** What the thread passes on from the agent, or says itself. */
export type FromWatchdog =
  | Extract<ControlMessage, { readonly type: 'start' }>
  | { readonly type: 'cancel'; readonly reason: StopReason }
  /** No process that the run started is left. */
  | { readonly type: 'swept' };

export interface ToWatchdog {
  readonly type: 'sweep';
}

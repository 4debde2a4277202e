/** Every status of a run. Clients treat one that they do not know as going on. */
export const RUN_STATUSES = [
  'queued',
  'running',
  'disconnected',
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Statuses that never change again. */
export const TERMINAL_STATUSES = ['succeeded', 'failed', 'cancelled', 'interrupted'] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export type ActiveStatus = Exclude<RunStatus, TerminalStatus>;

export function isRunStatus(value: unknown): value is RunStatus {
  return RUN_STATUSES.some((status) => status === value);
}

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return TERMINAL_STATUSES.some((terminal) => terminal === status);
}

/** Events about a run as a whole; who owns the run writes them, wherever its graph executes. */
export type RunLevelEvent =
  { readonly type: 'execution_start'; readonly payload: { readonly run_id: string } } | TerminalEvent;

/** The last event of a run's log; there is exactly one once the run ended. */
export type TerminalEvent =
  | {
      readonly type: 'execution_complete';
      /** Null when every node did its work. */
      readonly payload: null | { readonly failed_nodes: readonly string[]; readonly skipped_nodes: readonly string[] };
    }
  | {
      readonly type: 'execution_error';
      readonly payload: {
        readonly error: string;
        readonly code?: string;
        readonly params?: Readonly<Record<string, unknown>>;
      };
    }
  | { readonly type: 'execution_stopped'; readonly payload: { readonly reason: 'cancelled' | 'interrupted' } };

export const TERMINAL_EVENTS: readonly TerminalEvent['type'][] = [
  'execution_complete',
  'execution_error',
  'execution_stopped',
];

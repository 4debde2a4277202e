import type { Reason, ReasonParams } from './errors';

type Wording = (params: ReasonParams) => string;

/** Why a run waits, was refused, or ended as it did: every code that a run's row or its last event can carry, in English. */
const WORDINGS = {
  worker_offline: ({ worker }) => `waiting for worker ${String(worker)} to reconnect`,
  worker_draining: ({ worker }) => `worker ${String(worker)} is draining`,
  no_worker_offers: ({ devices }) => `waiting for a worker that offers ${list(devices)}`,
  server_draining: () => 'the server is stopping and starts no more runs',
  server_stopped: () => 'The server was stopped before the run was over',
  server_restarted: () => 'The server ended before the run was over',
  storage_failed: ({ reason }) => `What the run reported could not be stored: ${String(reason)}`,
  start_failed: () => 'The run could not be started: the server’s log has the details',
  executor_failed: () => 'The run ended because of a defect in the server: its log has the details',
  some_nodes_failed: ({ count, first }) =>
    `${String(count)} ${count === 1 ? 'node' : 'nodes'} failed, the first of them ${String(first)}`,
  device_fallback: ({ asked, used }) => `The device ${String(asked)} is not available: the run uses ${String(used)}`,
} as const satisfies Readonly<Record<string, Wording>>;

export type ReasonCode = keyof typeof WORDINGS;
export const REASON_CODES = Object.keys(WORDINGS) as readonly ReasonCode[];

/** A reason with its wording. */
export function reasonOf(code: ReasonCode, params: ReasonParams = {}): Reason {
  return { code, params, message: WORDINGS[code](params) };
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}

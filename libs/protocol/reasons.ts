import type { Reason, ReasonParams } from './errors';

type Wording = (params: ReasonParams) => string;

/** Why a run waits, was refused, or ended as it did: every code that a run's row or its last event can carry, in English. */
const WORDINGS = {
  worker_offline: ({ worker }) => `waiting for worker ${String(worker)} to reconnect`,
  worker_draining: ({ worker }) => `worker ${String(worker)} is draining`,
  no_worker_offers: ({ devices }) => `waiting for a worker that offers ${list(devices)}`,
  seeded_run: ({ run_id }) =>
    typeof run_id === 'string'
      ? `waiting for run ${run_id}, which has a seed and runs alone`
      : 'waiting until nothing else of the queue runs there: a run with a seed runs alone',
  only_draining_workers: ({ devices, workers }) =>
    `waiting for a worker that offers ${list(devices)}: ${list(workers)} ${Array.isArray(workers) && workers.length > 1 ? 'are' : 'is'} draining`,
  worker_disconnected: ({ worker, reason }) =>
    `The connection to worker ${String(worker)} was lost: ${textOf(reason)}. The run goes on there`,
  worker_reconnected: ({ worker }) => `Worker ${String(worker)} is back, and the run with it`,
  worker_gone: ({ worker, seconds }) => `Worker ${String(worker)} did not come back within ${String(seconds)} s`,
  worker_not_connected: ({ worker }) => `Worker ${String(worker)} is not connected`,
  worker_removed: ({ worker }) => `Worker ${String(worker)} was removed`,
  worker_rekeyed: ({ worker }) => `The credential of worker ${String(worker)} was replaced`,
  worker_adopted: ({ worker }) =>
    `The server was restarted: the run goes on when worker ${String(worker)} connects again`,
  worker_lost_after_restart: ({ worker, reason }) =>
    `Worker ${String(worker)} lost the run while the server was restarted: ${textOf(reason)}`,
  worker_frames_lost: ({ worker, from, to }) =>
    `Worker ${String(worker)} could not send the frames ${String(from)} to ${String(to)} of the run: they are lost`,
  worker_frame_invalid: ({ worker, problem }) =>
    `What worker ${String(worker)} reported of the run cannot be understood: ${String(problem)}`,
  worker_missing_types: ({ worker, types }) => `Worker ${String(worker)} lacks node types of the graph: ${list(types)}`,
  connection_closed: ({ close_code }) => `the connection was closed (${String(close_code)})`,
  connection_replaced: () => 'another connection of the same worker took its place',
  no_heartbeat: ({ seconds }) => `nothing came from it for ${String(seconds)} s`,
  assign_timeout: ({ worker, seconds }) =>
    `worker ${String(worker)} did not answer the assignment within ${String(seconds)} s`,
  no_reconnect_after_restart: ({ seconds }) => `it did not come back within ${String(seconds)} s`,
  run_exit: ({ code }) => `The run’s process ended by itself with exit code ${String(code)}`,
  run_signal: ({ signal }) => `The run’s process was ended by ${String(signal)}`,
  run_killed: ({ likely }) =>
    likely === 'oom'
      ? 'The system killed the run’s process because memory ran out: use a smaller batch or model, or another machine'
      : 'The run’s process was killed from outside',
  run_out_of_memory: () =>
    'The run needed more memory than it could get: use a smaller batch or model, or keep large data in tensors',
  run_unresponsive: ({ seconds }) => `The run did not stop within ${String(seconds)} s and was ended by force`,
  run_unreadable: () => 'The run’s process reported what cannot be read, and was ended',
  run_lost: ({ worker }) => `Worker ${String(worker)} does not have the run any more`,
  run_not_started: ({ reason }) => `The run’s process could not be started: ${String(reason)}`,
  device_not_offered: ({ device }) => `The worker does not offer ${String(device)}`,
  run_assigned_twice: ({ run_id }) => `The worker executes run ${String(run_id)} already`,
  agent_draining: () => 'The worker takes no new runs: it is draining',
  agent_stopped: () => 'The worker was stopped before the run was over',
  server_unreachable: () =>
    'The worker could not reach its server for so long that it stopped the run, as it was told to',
  agent_restarted: () => 'The worker was restarted, and the run ended with its former process',
  disk_full: ({ path }) => `The disk of the worker is full: what the run reports cannot be kept in ${String(path)}`,
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

/** Of a reason that is a parameter of another one. */
function textOf(reason: unknown): string {
  const text = typeof reason === 'object' && reason !== null && 'text' in reason ? reason.text : reason;
  return String(text);
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}

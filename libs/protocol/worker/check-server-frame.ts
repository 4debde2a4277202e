import { checkFrame } from './check-agent-frame';
import type { FieldCheck } from './fields';
import * as is from './fields';
import type { ServerFrame, ServerFrameType } from './frames';

type Fields<T extends ServerFrameType> = {
  readonly [F in Exclude<keyof Extract<ServerFrame, { type: T }>, 'type'>]-?: FieldCheck;
};

const open: FieldCheck = (value, path) => is.json(value, path);
const run = { run_id: is.runId, attempt: is.whole(1) };
const grace = is.optional(is.number(0, 86_400));
const graph = is.shape({ nodes: is.listOf(is.shape({})) });
const inputs = is.listOf(is.shape({ path: is.text, sha256: is.name, bytes: is.whole(0) }));
const folder = is.text;

const STORAGES: Readonly<Record<string, FieldCheck>> = {
  local: is.shape({
    folders: is.shape({
      ...{ data: folder, models: folder, images: folder, files: folder, graphs: folder, datasets: folder },
      ...{ output: folder, customNodes: is.orNull(folder), examples: is.optional(is.orNull(folder)) },
    }),
  }),
  mount: is.shape({ label: is.name }),
  transfer: is.shape({ inputs }),
  s3: is.shape({ inputs, s3: open }),
};

const storage: FieldCheck = (value, path) => {
  is.shape({ backend: is.oneOf(...Object.keys(STORAGES)) })(value, path);
  STORAGES[(value as { readonly backend: string }).backend]?.(value, path);
};

const FRAMES: { readonly [T in ServerFrameType]: Fields<T> } = {
  welcome: {
    worker_id: is.name,
    heartbeat_s: is.number(0.001, 86_400),
    grace_s: is.number(0, 86_400),
    capabilities: is.listOf(is.name, 256),
    resume_grace_s: is.optional(is.number(0)),
  },
  reject: { code: is.name, reason: is.text, params: open },
  assign: {
    ...run,
    graph,
    options: open,
    device: is.name,
    devices: is.listOf(is.name, 256),
    storage,
    payload_cap_bytes: is.whole(1),
    max_parallel_nodes: is.whole(1),
    grace_s: grace,
    memory_budgets: is.optional(is.tableOf(is.number(0))),
    inputs: is.optional(open),
  },
  cancel: { ...run, grace_s: grace },
  drain: { draining: is.truth },
  ack: { ...run, seq: is.whole(0) },
  want_console: { ...run, offset: is.whole(0) },
  credentials: { ...run, credentials: open },
  fetch_output: { request_id: is.name, run_id: is.runId, read: is.name, query: open, wait_s: is.number(0) },
  cancel_fetch: { request_id: is.name },
  drop_outputs: { run_id: is.runId },
};

const CHECKS = new Map(Object.entries(FRAMES).map(([type, fields]) => [type, is.shape(fields)]));

/**
 * Checks a frame from the control plane.
 *
 * @returns null for a frame of a type that is not known here, which is ignored
 * @throws CodedError `invalid_frame` with `params.field`
 */
export function checkServerFrame(value: unknown): ServerFrame | null {
  return checkFrame(value, CHECKS) as ServerFrame | null;
}

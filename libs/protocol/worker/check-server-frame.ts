import { checkFrame } from './check-agent-frame';
import type { FieldCheck } from './fields';
import * as is from './fields';
import type { ServerFrame, ServerFrameType } from './frames';

type Fields<T extends ServerFrameType> = {
  readonly [F in Exclude<keyof Extract<ServerFrame, { type: T }>, 'type'>]-?: FieldCheck;
};

const run = { run_id: is.runId, attempt: is.whole(1) };
const grace = is.optional(is.number(0, 86_400));
/** More than a graph has. */
const MAX_EDGES = 524_288;
/** That it has the shape of a graph; the run says what is wrong with it. */
const graph = is.shape({ nodes: is.listOf(is.open), edges: is.listOf(is.open, MAX_EDGES) });
const input = { path: is.text, sha256: is.sha256, bytes: is.whole(0) };
const bucket = is.shape({
  ...{ endpoint: is.orNull(is.text), region: is.text, bucket: is.text, prefix: is.text },
  credentials: is.open,
});
const folder = is.text;

const STORAGES: Readonly<Record<string, FieldCheck>> = {
  local: is.shape({
    folders: is.shape({
      ...{ data: folder, models: folder, images: folder, files: folder, graphs: folder, datasets: folder },
      ...{ output: folder, customNodes: is.orNull(folder), examples: is.optional(is.orNull(folder)) },
    }),
  }),
  mount: is.shape({ label: is.name }),
  transfer: is.shape({ inputs: is.listOf(is.shape(input)) }),
  s3: is.shape({ inputs: is.listOf(is.shape({ ...input, key: is.text })), s3: bucket }),
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
  reject: { code: is.name, reason: is.text, params: is.open },
  assign: {
    ...run,
    graph,
    options: is.open,
    device: is.name,
    devices: is.listOf(is.name, 256, 1),
    storage,
    payload_cap_bytes: is.whole(1),
    max_parallel_nodes: is.whole(1),
    provenance: is.optional(is.truth),
    grace_s: grace,
    memory_budgets: is.optional(is.tableOf(is.number(0))),
    inputs: is.optional(is.open),
  },
  cancel: { ...run, grace_s: grace },
  drain: { draining: is.truth },
  ack: { ...run, seq: is.whole(0) },
  want_console: { ...run, offset: is.whole(0) },
  credentials: { ...run, credentials: is.open },
  fetch_output: { request_id: is.name, run_id: is.runId, read: is.name, query: is.open, wait_s: is.number(0) },
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

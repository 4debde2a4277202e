import { isPlainObject, shown } from '../checks';
import { CodedError } from '../errors';
import type { FieldCheck } from './fields';
import * as is from './fields';
import type { AgentFrame, AgentFrameType } from './frames';

type Fields<T extends AgentFrameType> = {
  readonly [F in Exclude<keyof Extract<AgentFrame, { type: T }>, 'type'>]-?: FieldCheck;
};

const device = is.shape({
  device: is.name,
  name: is.name,
  uuid: is.orNull(is.name),
  total_bytes: is.orNull(is.number(0)),
  free_bytes: is.orNull(is.number(0)),
  utilization: is.orNull(is.number(0, 100)),
});
const devices = is.listOf(device, 256);
const names = is.listOf(is.name);
const nodes = is.listOf(is.text);
const attempt = is.whole(1);
const head = { run_id: is.runId, attempt, seq: is.whole(1) };
const timed = { ...head, at_ms: is.number(0, Number.MAX_SAFE_INTEGER) };
const coded = is.shape({ code: is.text, params: is.open });
const nodeStatus = is.oneOf('running', 'completed', 'cached', 'skipped', 'error', 'progress', 'interrupted');
const problem = { error: is.optional(is.text), error_type: is.optional(is.text) };

/** Of an output entry; what it shows is the reader's business. */
const entry = is.shape({ output_kind: is.name });

const PAYLOADS: Readonly<Record<string, FieldCheck>> = {
  node_status: is.shape({
    ...{ node_id: is.text, status: nodeStatus },
    ...problem,
    outputs: is.optional(is.listOf(entry)),
  }),
  inner_node_status: is.shape({ node_id: is.text, inner_id: is.text, status: nodeStatus, ...problem }),
};

const event: FieldCheck = (value, path) => {
  is.shape({ type: is.oneOf(...Object.keys(PAYLOADS)) })(value, path);
  const { type, payload } = value as { readonly type: string; readonly payload: unknown };
  PAYLOADS[type]?.(payload, `${path}.payload`);
};

const point = is.shape({ name: is.text, value: is.orNull(is.number()), step: is.whole(), node_id: is.text });

const outcome = is.shape({
  status: is.oneOf('succeeded', 'failed', 'cancelled', 'interrupted'),
  error: is.orNull(is.text),
  reason: is.orNull(coded),
  failed_nodes: nodes,
  skipped_nodes: nodes,
  peak_memory: is.listOf(is.shape({ device: is.name, bytes: is.number(0), exact: is.truth }), 256),
  graph_outputs: is.optional(is.open),
  final_outputs: is.optional(is.listOf(is.shape({ node_id: is.text, port: is.text, summary: is.open }))),
  seconds: is.number(0),
});

const FRAMES: { readonly [T in AgentFrameType]: Fields<T> } = {
  hello: {
    name: is.name,
    version: is.name,
    protocol_version: is.whole(0),
    capabilities: is.listOf(is.name, 256),
    machine_id: is.orNull(is.name),
    platform: is.name,
    devices,
    mounts: is.listOf(is.name, 256),
    fingerprint: is.orNull(is.open),
    catalog_hash: is.orNull(is.name),
    node_types: names,
    node_type_hashes: is.tableOf(is.name),
    one_shot: is.optional(is.truth),
    one_shot_run_id: is.optional(is.runId),
    instance_id: is.optional(is.name),
    instance: is.optional(is.name),
    draining: is.optional(is.truth),
  },
  heartbeat: { devices, running: is.listOf(is.runId), draining: is.optional(is.truth) },
  run_alive: { runs: is.listOf(is.shape({ run_id: is.runId, attempt, last_seq: is.whole(0) })) },
  run_started: {
    ...head,
    visible_devices: is.orNull(is.text),
    device_aliases: is.tableOf(is.name),
    after_ms: is.optional(is.number(0)),
  },
  event: { ...timed, event },
  metrics: { ...timed, points: is.listOf(point) },
  artifact: { ...timed, artifact: is.shape({ kind: is.text, path: is.text, meta: is.open, node_id: is.text }) },
  warning: {
    ...timed,
    warning: is.shape({
      ...{ kind: is.text, detail: is.text, count: is.optional(is.whole()) },
      ...{ code: is.optional(is.text), params: is.optional(is.open) },
    }),
  },
  run_facts: { ...head, facts: is.open },
  run_finished: { ...head, outcome },
  console: { run_id: is.runId, attempt, offset: is.whole(0), bytes: is.whole(0), text: is.text },
  output_answer: { request_id: is.name, status: is.whole(200, 599), body: is.text, final: is.truth },
};

const CHECKS = new Map(Object.entries(FRAMES).map(([type, fields]) => [type, is.shape(fields)]));

/**
 * Checks a frame from an agent.
 *
 * @param shallow whether it is known not to be nested too deep: see `isShallow`
 * @returns null for a frame of a type that is not known here, which is ignored
 * @throws CodedError `invalid_frame` with `params.field`
 */
export function checkAgentFrame(value: unknown, shallow = false): AgentFrame | null {
  return checkFrame(value, CHECKS, shallow) as AgentFrame | null;
}

/** The same for either direction. */
export function checkFrame(value: unknown, checks: ReadonlyMap<string, FieldCheck>, shallow = false): unknown {
  if (!isPlainObject(value) || typeof value['type'] !== 'string') {
    throw new CodedError('invalid_frame', `A frame must be an object with a "type"; it is ${shown(value)}`, {
      field: 'type',
    });
  }
  const type = value['type'];
  const check = checks.get(type);
  if (!check) return null;
  check(value, type);
  if (!shallow) is.shallow(value, type);
  return value;
}

import { isPlainObject, shown } from './checks';
import { CodedError } from './errors';
import { checkSubmission, type Submission } from './submission';

/** What a canvas asks to be executed. */
export interface CanvasSubmission extends Submission {
  /** Ids of nodes that were edited since the last run of the session. */
  readonly changedNodes: readonly string[];
}

const GRAPH_KEYS = ['name', 'nodes', 'edges', 'presets', 'subgraphs', 'segmentGroups', 'settings', 'format_version'];
/** Member of the `execute` message -> option. Members that are not known are passed over, as in every message. */
const OPTIONS: Readonly<Record<string, string>> = {
  device: 'device',
  seed: 'seed',
  deterministic: 'deterministic',
  record_outputs: 'record_outputs',
  verbose_mode: 'verbose',
  backward_mode: 'backward_mode',
  auto_backward: 'auto_backward',
  weights_persistent: 'weights_persistent',
  graph_id: 'graph_id',
  error_mode: 'error_mode',
  max_retries: 'max_retries',
  target: 'target',
};

/**
 * Checks an `execute` message of `/ws/execution`: the graph's parts and the options lie side by side in it.
 *
 * @throws CodedError as `checkSubmission` does
 */
export function checkCanvasSubmission(message: unknown): CanvasSubmission {
  if (!isPlainObject(message)) {
    throw new CodedError('invalid_body', `An execute message must be an object; it is ${shown(message)}`, {
      field: '',
    });
  }
  const pick = (names: readonly (readonly [from: string, to: string])[]): Record<string, unknown> =>
    Object.fromEntries(
      names.flatMap(([from, to]) =>
        Object.hasOwn(message, from) && message[from] !== null && message[from] !== undefined
          ? [[to, message[from]]]
          : [],
      ),
    );
  const graph = pick(GRAPH_KEYS.map((key) => [key, key]));
  const options = pick(Object.entries(OPTIONS));
  const checked = checkSubmission({ graph, options: { ...options, lane: 'interactive' } });
  const changed = Object.hasOwn(message, 'changed_nodes') ? (message['changed_nodes'] ?? []) : [];
  if (!Array.isArray(changed) || !changed.every((id) => typeof id === 'string')) {
    const rule = `"changed_nodes" must be a list of node ids; it is ${shown(changed)}`;
    throw new CodedError('invalid_body', rule, { field: 'changed_nodes' });
  }
  return { ...checked, changedNodes: changed };
}

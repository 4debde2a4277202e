/** A field of a frame: the object that holds it, its name there, and its path as the checks name it. */
export interface Field {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly path: string;
}

/** What frames may lack, and what they may hold that nobody looks into; `[]` stands for any index. */
export const OPTIONAL: ReadonlySet<string> = new Set([
  ...['hello.one_shot', 'hello.one_shot_run_id', 'hello.instance_id', 'hello.instance'],
  ...['hello.draining', 'heartbeat.draining', 'run_started.after_ms'],
  ...['event.event.payload.error', 'event.event.payload.error_type', 'event.event.payload.outputs'],
  ...['event.event.payload.outputs[].text'],
  ...['warning.warning.count', 'warning.warning.code', 'warning.warning.params'],
  ...['run_finished.outcome.graph_outputs', 'run_finished.outcome.final_outputs'],
  ...[
    'welcome.resume_grace_s',
    'assign.grace_s',
    'assign.provenance',
    'assign.memory_budgets',
    'assign.inputs',
    'cancel.grace_s',
  ],
  'assign.storage.folders.examples',
]);
export const OPEN: ReadonlySet<string> = new Set([
  ...['hello.fingerprint', 'hello.node_type_hashes', 'run_started.device_aliases', 'artifact.artifact.meta'],
  ...['warning.warning.params', 'run_facts.facts', 'run_finished.outcome.reason.params'],
  ...['run_finished.outcome.graph_outputs', 'run_finished.outcome.final_outputs[].summary'],
  ...['reject.params', 'assign.graph.nodes[]', 'assign.graph.edges[]', 'assign.options', 'assign.memory_budgets'],
  ...['assign.inputs', 'credentials.credentials', 'fetch_output.query'],
]);

/** `a.b[3].c` -> `a.b[].c`, as the lists above have it. */
export const anyIndex = (path: string): string => path.replace(/\[\d+\]/g, '[]');

/** Every field of a frame but its type, down to what is open; of a list the fields of its items. */
export function fieldsOf(frame: object): readonly Field[] {
  const { type } = frame as { readonly type: string };
  return fieldsIn(frame, type).filter(({ path }) => path !== `${type}.type`);
}

function fieldsIn(value: unknown, path: string): readonly Field[] {
  if (typeof value !== 'object' || value === null || OPEN.has(anyIndex(path))) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => fieldsIn(item, `${path}[${index}]`));
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [
    { holder, key, path: `${path}.${key}` },
    ...fieldsIn(holder[key], `${path}.${key}`),
  ]);
}

/** Every object in a frame that is not open, the frame itself included. */
export function objectsOf(frame: object): readonly Record<string, unknown>[] {
  return [...new Set([frame as Record<string, unknown>, ...fieldsOf(frame).map(({ holder }) => holder)])];
}

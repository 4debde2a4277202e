import { isPlainObject, shown, type PlainObject } from './checks';
import { CodedError } from './errors';
import type { GraphFile } from './graph';
import type { ErrorMode } from './run-options';
import { checkTarget, requireSupported, type Target } from './target';

export type Lane = 'queued' | 'interactive';

/** A run's options with their defaults; the set is closed. */
export interface SubmissionOptions {
  /** As asked for: `auto`, `cpu`, `cuda`, `cuda:N`, `mps`, `mps:N`; null: the graph's, else the processor. */
  readonly device: string | null;
  readonly seed: number | null;
  readonly deterministic: boolean;
  readonly record_outputs: boolean;
  readonly lane: Lane;
  readonly verbose: boolean;
  readonly backward_mode: boolean;
  readonly auto_backward: boolean;
  readonly weights_persistent: boolean;
  readonly graph_id: string;
  readonly error_mode: ErrorMode;
  readonly max_retries: number;
  readonly provenance: boolean;
  /** Of the runs in a queue those with more of it start first. */
  readonly priority: number;
  /** Null: this server, as if there were no workers. */
  readonly target: Target | null;
}

/** A submission whose form is right. Its graph's structure is another matter. */
export interface Submission {
  readonly graph: GraphFile;
  readonly options: SubmissionOptions;
  /** The graph's own when none was given; may be empty. */
  readonly name: string;
}

/** In characters as people count them: code points. */
export const MAX_RUN_NAME = 64;
/** What neither a database nor UTF-8 can hold as text. */
const NO_TEXT = /[\0\p{Cs}]/u;
const MAX_LANE = 64;
const MAX_GRAPH_ID = 128;
const MAX_SEED = 2 ** 32 - 1;
const MAX_RETRIES = 10;
/** Either way. */
const MAX_PRIORITY = 1_000;
const MAX_DEVICE = 64;
const DEVICE = /^(?:cpu|auto|cuda(?::\d+)?|mps(?::\d+)?)$/;
const BODY_KEYS = ['graph', 'options', 'name'];
const ERROR_MODES: readonly ErrorMode[] = ['fail_fast', 'continue', 'retry'];

/**
 * Checks the body of a submission by hand: decorators take milliseconds on a large graph.
 *
 * @throws CodedError `invalid_body` about the form, with `params.field`; `unknown_option`, `invalid_option`, `invalid_target` or
 *   `target_unsupported` about an option, with `params.option`
 */
export function checkSubmission(body: unknown): Submission {
  if (!isPlainObject(body)) {
    throw misformed('', body, 'The body must be an object with "graph", and optionally "options" and "name"');
  }
  for (const key of Object.keys(body)) {
    if (!BODY_KEYS.includes(key)) {
      throw misformed(
        cut(key),
        body[key],
        `The field "${cut(key)}" is unknown: a submission has ${BODY_KEYS.join(', ')}`,
      );
    }
  }
  const graph = checkGraph(own(body, 'graph'));
  const options = checkOptions(own(body, 'options'));
  const name = checkName(own(body, 'name')) || graphName(graph);
  return { graph, options, name };
}

/** Checks `options` of a submission; absent ones have their defaults. */
export function checkOptions(value: unknown): SubmissionOptions {
  if (value !== undefined && value !== null && !isPlainObject(value)) {
    throw misformed('options', value, `"options" must be an object`);
  }
  const given: PlainObject = value ?? {};
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(READERS, key)) continue;
    const known = Object.keys(READERS);
    const message = `The option "${cut(key)}" is unknown: a run has ${known.join(', ')}`;
    throw new CodedError('unknown_option', message, { option: cut(key), known });
  }
  const options = Object.fromEntries(
    Object.entries(READERS).map(([option, read]) => [option, read(own(given, option) ?? null, option)]),
  ) as unknown as SubmissionOptions;
  if (options.target !== null) checkTogether(options, options.target);
  return options;
}

/** What every option accepts; null stands for absent. */
const READERS: { readonly [O in keyof SubmissionOptions]: (value: unknown, option: string) => SubmissionOptions[O] } = {
  device: readDevice,
  seed: (value, option) => (value === null ? null : readWhole(value, option, MAX_SEED)),
  deterministic: readTruth,
  record_outputs: readTruth,
  lane: readLane,
  verbose: readTruth,
  backward_mode: readTruth,
  auto_backward: readTruth,
  weights_persistent: readTruth,
  graph_id: readGraphId,
  error_mode: readErrorMode,
  max_retries: (value, option) => (value === null ? 0 : readWhole(value, option, MAX_RETRIES)),
  provenance: readTruth,
  priority: readPriority,
  target: (value) => (value === null ? null : checkTarget(value)),
};

/** What options say about each other. What no server could serve is wrong; what only this one cannot is not supported. */
function checkTogether(options: SubmissionOptions, target: Target): void {
  const remote = target.worker !== 'local';
  if (remote && options.lane === 'interactive') {
    const message = `The lane "interactive" always runs on this server: target.worker must be "local", it is "${target.worker}"`;
    throw new CodedError('invalid_target', message, { option: 'target.worker', value: target.worker });
  }
  if (target.pool === 'one-shot' && options.record_outputs) {
    const message =
      'record_outputs must be false with target.pool "one-shot": such a worker is gone when the run is over, and its outputs with it';
    throw new CodedError('invalid_target', message, { option: 'record_outputs', value: true });
  }
  requireSupported(target);
}

function checkGraph(graph: unknown): GraphFile {
  if (!isPlainObject(graph)) throw misformed('graph', graph, '"graph" must be a graph file: an object with "nodes"');
  const nodes = own(graph, 'nodes');
  if (!Array.isArray(nodes)) throw misformed('graph.nodes', nodes, '"graph.nodes" must be a list');
  if (nodes.length === 0) throw misformed('graph.nodes', nodes, '"graph.nodes" must have at least one node');
  return graph as unknown as GraphFile;
}

function checkName(name: unknown): string {
  if (name === undefined || name === null) return '';
  if (typeof name !== 'string') throw misformed('name', name, '"name" must be a text');
  const trimmed = name.trim();
  const length = [...trimmed].length;
  if (length > MAX_RUN_NAME) {
    throw misformed('name', name, `"name" must have at most ${MAX_RUN_NAME} characters, it has ${length}`);
  }
  if (NO_TEXT.test(trimmed)) {
    throw misformed(
      'name',
      name,
      '"name" must be text: without the character NUL and without half characters (lone surrogates)',
    );
  }
  return trimmed;
}

function graphName(graph: GraphFile): string {
  const name: unknown = own(graph, 'name');
  if (typeof name !== 'string') return '';
  const characters = [...name.replace(new RegExp(NO_TEXT, 'gu'), '').trim()];
  return characters.slice(0, MAX_RUN_NAME).join('').trim();
}

function readDevice(value: unknown, option: string): string | null {
  if (value === null) return null;
  const rule = 'must be cpu, auto, cuda, cuda:N, mps or mps:N';
  if (typeof value !== 'string' || value.length > MAX_DEVICE) throw invalid(option, value, rule);
  const device = value.toLowerCase();
  if (!DEVICE.test(device)) throw invalid(option, value, rule);
  return device.replace(/:0+(?=\d)/, ':');
}

function readTruth(value: unknown, option: string): boolean {
  if (value === null) return false;
  if (typeof value !== 'boolean') throw invalid(option, value, 'must be true or false');
  return value;
}

function readWhole(value: unknown, option: string, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw invalid(option, value, `must be a whole number from 0 to ${max}`);
}

function readPriority(value: unknown, option: string): number {
  if (value === null) return 0;
  // A minus before nothing is no other number.
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_PRIORITY) return value + 0;
  throw invalid(option, value, `must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`);
}

function readLane(value: unknown, option: string): Lane {
  if (value === null) return 'queued';
  if (value === 'queued' || value === 'interactive') return value;
  const rule = 'must be "queued" or "interactive"';
  if (typeof value === 'string' && value.length > MAX_LANE) {
    throw invalid(option, value, `${rule}, and never has more than ${MAX_LANE} characters`);
  }
  throw invalid(option, value, rule);
}

function readGraphId(value: unknown, option: string): string {
  if (value === null) return '';
  if (typeof value === 'string' && value.length <= MAX_GRAPH_ID && !NO_TEXT.test(value)) return value;
  throw invalid(option, value, `must be a text of at most ${MAX_GRAPH_ID} characters, without NUL and half characters`);
}

function readErrorMode(value: unknown, option: string): ErrorMode {
  const mode = value === null ? 'fail_fast' : ERROR_MODES.find((known) => known === value);
  if (mode === undefined) throw invalid(option, value, `must be one of ${ERROR_MODES.join(', ')}`);
  return mode;
}

function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as PlainObject)[key] : undefined;
}

function invalid(option: string, value: unknown, rule: string): CodedError {
  return new CodedError('invalid_option', `The option ${option} ${rule}; it is ${shown(value)}`, {
    option,
    value: shown(value),
  });
}

function misformed(field: string, value: unknown, rule: string): CodedError {
  const what = value === undefined ? 'it is missing' : `it is ${shown(value)}`;
  return new CodedError('invalid_body', `${rule}; ${what}`, { field, value: shown(value) });
}

function cut(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}...` : key;
}

import { InvalidArgumentError } from 'commander';
import type { ErrorMode, GraphSettings, RunOptions } from '@cdui/protocol';

/** What a person may ask of a run on the command line. */
export interface GraphRunArguments {
  readonly validateOnly?: boolean;
  readonly device?: string;
  readonly seed?: number;
  readonly deterministic?: boolean;
  readonly errorMode?: ErrorMode;
  readonly maxRetries?: number;
  readonly verbose?: boolean;
  readonly json?: boolean;
  /** Values of GraphInput nodes by name, as text. */
  readonly input?: ReadonlyMap<string, string>;
  readonly dataDir?: string;
  readonly outputDir?: string;
}

const ERROR_MODES: readonly ErrorMode[] = ['fail_fast', 'continue', 'retry'];
const MAX_SEED = 2 ** 32 - 1;
const MAX_RETRIES = 10;

/** `auto` is the processor, a kind without number its first device. */
export function parseDevice(text: string): string {
  const device = text.trim().toLowerCase();
  if (device === 'auto' || device === 'cpu') return 'cpu';
  if (device === 'cuda') return 'cuda:0';
  if (device === 'mps' || device === 'mps:0') return 'mps:0';
  if (/^cuda:\d{1,4}$/.test(device)) return device;
  throw new InvalidArgumentError('Give cpu, cuda, cuda:N or mps.');
}

export function parseSeed(text: string): number {
  return wholeNumber(text, MAX_SEED);
}

export function parseRetries(text: string): number {
  return wholeNumber(text, MAX_RETRIES);
}

export function parseErrorMode(text: string): ErrorMode {
  const mode = ERROR_MODES.find((candidate) => candidate === text);
  if (mode === undefined) throw new InvalidArgumentError(`Give one of ${ERROR_MODES.join(', ')}.`);
  return mode;
}

/** Adds `NAME=VALUE` to those given before; of one name the last counts. */
export function parseInput(text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give NAME=VALUE.');
  return new Map(before).set(text.slice(0, at).trim(), text.slice(at + 1));
}

function wholeNumber(text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text.trim()) || value > max) {
    throw new InvalidArgumentError(`Give a whole number from 0 to ${max}.`);
  }
  return value;
}

/** The engine's options: what the command line says, else what the graph's settings say. */
export function runOptions(given: GraphRunArguments, settings: GraphSettings = {}): RunOptions {
  const seed = given.seed ?? settings.seed ?? null;
  return {
    device: given.device ?? (settings.device ? parseDevice(settings.device) : 'cpu'),
    seed,
    deterministic: given.deterministic ?? settings.deterministic ?? false,
    error_mode: given.errorMode ?? 'fail_fast',
    max_retries: given.maxRetries ?? 0,
    verbose: given.verbose ?? false,
  };
}

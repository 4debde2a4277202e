import { InvalidArgumentError } from 'commander';
import type { Submission } from '../client/api';
import type { ServerChoice } from '../commands/server-command';

/** What a person may ask of a run that is submitted. */
export interface RunArguments extends ServerChoice {
  readonly name?: string;
  readonly device?: string;
  readonly seed?: number;
  readonly deterministic?: boolean;
  readonly recordOutputs?: boolean;
  readonly errorMode?: 'fail_fast' | 'continue' | 'retry';
  readonly maxRetries?: number;
  readonly provenance?: boolean;
  readonly priority?: number;
  readonly verbose?: boolean;
  readonly wait?: boolean;
  readonly detach?: boolean;
  readonly timeout?: number;
  readonly worker?: string;
  readonly devices?: readonly string[];
  readonly pool?: string;
  readonly memoryGib?: number;
  readonly memoryWait?: boolean;
}

const MAX_NAME = 64;

/** The options of a submission: only what was said, so that the graph's settings and the server's defaults hold for the rest. */
export function submissionOptions(given: RunArguments): NonNullable<Submission['options']> {
  const target = targetOf(given);
  return {
    ...(given.device !== undefined && { device: given.device }),
    ...(given.seed !== undefined && { seed: given.seed }),
    ...(given.deterministic && { deterministic: true }),
    ...(given.recordOutputs && { record_outputs: true }),
    ...(given.errorMode !== undefined && { error_mode: given.errorMode }),
    ...(given.maxRetries !== undefined && { max_retries: given.maxRetries }),
    ...(given.provenance && { provenance: true }),
    ...(given.priority !== undefined && { priority: given.priority }),
    ...(given.verbose && { verbose: true }),
    ...(target !== null && { target }),
  };
}

function targetOf({ worker, devices, pool, memoryGib, memoryWait }: RunArguments) {
  const target = {
    ...(worker !== undefined && { worker }),
    ...(devices !== undefined && { devices: [...devices] }),
    ...(pool !== undefined && { pool: pool as 'one-shot' }),
    ...(memoryGib !== undefined && { memory_gib: memoryGib, memory_source: 'user' as const }),
    ...(memoryWait === false && { wait: false }),
  };
  return Object.keys(target).length > 0 ? target : null;
}

/** A graph's own name may be longer than a run's. */
export function runName(given: string | undefined, graphName: string): string {
  return given ?? [...graphName].slice(0, MAX_NAME).join('');
}

export function parseName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME) throw new InvalidArgumentError(`Give 1 to ${MAX_NAME} characters.`);
  return name;
}

/** As the server takes it: `auto` and kinds without a number are its to resolve. */
export function parseServerDevice(text: string): string {
  const device = text.trim().toLowerCase();
  if (/^(cpu|auto|cuda(:\d+)?|mps(:\d+)?)$/.test(device)) return device;
  throw new InvalidArgumentError('Give auto, cpu, cuda, cuda:N or mps.');
}

export function parseDevices(text: string): readonly string[] {
  const devices = text.split(',').map((device) => device.trim().toLowerCase());
  if (devices.every((device) => /^(cpu|(cuda|mps):\d+)$/.test(device))) return devices;
  throw new InvalidArgumentError('Give devices with their numbers, separated by commas, such as cuda:0,cuda:1.');
}

export function parsePriority(text: string): number {
  const value = Number(text);
  if (/^[+-]?\d+$/.test(text.trim()) && Math.abs(value) <= 1000) return value;
  throw new InvalidArgumentError('Give a whole number from -1000 to 1000.');
}

export function parseGib(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('Give a number of GiB above 0.');
  }
  return value;
}

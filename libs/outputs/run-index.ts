import { CodedError } from '@cdui/protocol';
import type { RecordedPort } from './recorded-port';

/** The file that makes a folder the captures of a run: what is there, so that listing opens nothing else. */
export const INDEX_FILE = 'index.json';
const VERSION = 1;

export interface RunIndex {
  readonly run_id: string;
  /** ISO 8601, UTC. */
  readonly recorded_at: string;
  /** Size of all files that the ports name. */
  readonly bytes: number;
  readonly ports: readonly RecordedPort[];
}

export function indexText(index: RunIndex): string {
  return JSON.stringify({ version: VERSION, ...index });
}

/** @throws CodedError `output_damaged` for anything that `indexText` did not write */
export function parseIndex(text: string, path: string): RunIndex {
  let parsed: Partial<RunIndex> & { readonly version?: unknown };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    throw damaged(path, 'it is not JSON');
  }
  const { version, run_id: runId, recorded_at: recordedAt, bytes, ports } = parsed ?? {};
  if (version !== VERSION) throw damaged(path, `its version is ${JSON.stringify(version)}, not ${VERSION}`);
  if (typeof runId !== 'string' || typeof recordedAt !== 'string' || typeof bytes !== 'number' || !Array.isArray(ports))
    throw damaged(path, 'a member is missing');
  // Files are removed by these names: none may lead out of the folder.
  if (!ports.every(hasPlace)) throw damaged(path, 'a port is not described as it must be');
  return { run_id: runId, recorded_at: recordedAt, bytes, ports };
}

const TENSOR_FILE = /^tensors-\d+\.safetensors$/;

export function tensorFileName(number: number): string {
  return `tensors-${number}.safetensors`;
}

function hasPlace(port: Partial<RecordedPort> | null): boolean {
  if (typeof port?.node_id !== 'string' || typeof port.port !== 'string') return false;
  return port.type !== 'tensor' || (TENSOR_FILE.test(String(port.file)) && Array.isArray(port.full_shape));
}

/** The names of the files that belong to the captures, the index itself not counted. */
export function filesOf(index: RunIndex): readonly string[] {
  return [...new Set(index.ports.flatMap((port) => (port.type === 'tensor' ? [port.file] : [])))];
}

export function damaged(path: string, what: string): CodedError {
  return new CodedError('output_damaged', `The recorded outputs in ${path} cannot be read: ${what}`, { file: path });
}

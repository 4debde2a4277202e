import { CodedError } from '../errors';
import type { NumberedFrameType } from './frames';

/**
 * Reads a message of `/ws/worker`: a frame, or several as an array. They are not checked yet.
 *
 * @throws CodedError `invalid_message` when it is no JSON
 */
export function readMessage(message: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch (error) {
    const { message: reason } = error as Error;
    throw new CodedError('invalid_message', `A message must be JSON: ${reason.slice(0, 200)}`);
  }
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

/** What stands before the members that the subprocess encoded. */
export function frameHead(type: NumberedFrameType, runId: string, attempt: number, seq: number): string {
  return `{"type":"${type}","run_id":"${runId}","attempt":${attempt},"seq":${seq},`;
}

const HEAD = /^\{"type":"(\w+)","run_id":"([\w-]+)","attempt":(\d+),"seq":(\d+),/;

/** What stands before the members of a frame that `frameHead` began; null for anything else. */
export function readFrameHead(
  line: string,
): { readonly type: string; readonly runId: string; readonly attempt: number; readonly seq: number } | null {
  const match = HEAD.exec(line);
  if (!match) return null;
  const [, type = '', runId = '', attempt, seq] = match;
  return { type, runId, attempt: Number(attempt), seq: Number(seq) };
}

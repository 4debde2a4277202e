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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether no value in a JSON text is nested deeper than that. It costs far less than a look at every value does. */
export function isShallow(json: string, depth: number): boolean {
  let level = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      level += 1;
      if (level > depth) return false;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) level -= 1;
  }
  return true;
}

function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
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

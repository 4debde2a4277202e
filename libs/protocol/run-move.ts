import { isPlainObject, shown } from './checks';
import { CodedError } from './errors';

/** Where a waiting run shall stand: the id of the run that it goes before, or a position in its queue, from 1. */
export type MoveTo = string | number;

/** Beyond the last is the end. */
const MAX_MOVE = 1_000_000;

/** Checks the body of a move. @throws CodedError `invalid_body` with the field */
export function checkMove(body: unknown): MoveTo {
  if (!isPlainObject(body)) throw misformed('', body, 'The body must be an object with "before"');
  const other = Object.keys(body).find((key) => key !== 'before');
  if (other !== undefined) {
    throw misformed(other.slice(0, 80), body[other], `The field ${shown(other)} is unknown: a move has "before"`);
  }
  const before = Object.hasOwn(body, 'before') ? body['before'] : undefined;
  if (typeof before === 'string' && before !== '') return before;
  if (typeof before === 'number' && Number.isInteger(before) && before >= 1 && before <= MAX_MOVE) return before;
  const rule = '"before" must be the id of a run that waits in the same queue, or a position in it, from 1';
  throw misformed('before', before, rule);
}

function misformed(field: string, value: unknown, rule: string): CodedError {
  return new CodedError('invalid_body', `${rule}; it is ${shown(value)}`, { field, value: shown(value) });
}

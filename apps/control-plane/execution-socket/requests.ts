import { CodedError } from '@cdui/protocol';
import { JsonRefusal, parseJson } from '../system/json-text';

export const TOPICS = ['runs', 'workers'] as const;
export type Topic = (typeof TOPICS)[number];

/** What a client may ask for on `/ws/execution`. Members that are not known are passed over. */
export type SocketRequest =
  | { readonly action: 'execute'; readonly message: Readonly<Record<string, unknown>> }
  | { readonly action: 'attach'; readonly runId: string; readonly cursor: number }
  | { readonly action: 'detach' }
  | { readonly action: 'cancel'; readonly runId: string | null }
  | { readonly action: 'clear_cache' }
  | { readonly action: 'watch' | 'unwatch'; readonly topics: readonly Topic[] };

/** @throws CodedError `invalid_message`, `unknown_action` */
export function socketRequest(bytes: Buffer): SocketRequest {
  const message = parsed(bytes);
  const { action } = message;
  switch (action) {
    case 'execute':
      return { action, message };
    case 'attach':
      return { action, runId: runId(message), cursor: cursor(message) };
    case 'detach':
    case 'clear_cache':
      return { action };
    case 'cancel':
    case 'stop':
      return {
        action: 'cancel',
        runId: message['run_id'] === undefined || message['run_id'] === null ? null : runId(message),
      };
    case 'watch':
    case 'unwatch':
      return { action, topics: topics(message) };
    default: {
      const known = 'execute, attach, detach, cancel, clear_cache, watch or unwatch';
      const shown = typeof action === 'string' ? `"${action.slice(0, 100)}"` : 'missing';
      throw new CodedError('unknown_action', `The action is ${shown}: it must be ${known}`, { field: 'action' });
    }
  }
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  let message: unknown;
  try {
    message = parseJson(bytes);
  } catch (error) {
    throw error instanceof JsonRefusal ? refusal('', `The message ${error.message}`) : error;
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw refusal('', 'A message must be a JSON object with an "action"');
  }
  return message as Readonly<Record<string, unknown>>;
}

function runId(message: Readonly<Record<string, unknown>>): string {
  const { run_id: id } = message;
  if (typeof id === 'string' && id !== '' && id.length <= 64) return id;
  throw refusal('run_id', 'run_id must be the id of a run');
}

function cursor(message: Readonly<Record<string, unknown>>): number {
  const { cursor: from = 0 } = message;
  if (Number.isSafeInteger(from) && (from as number) >= 0) return from as number;
  throw refusal('cursor', 'cursor must be a whole number of at least 0: the events after it are sent');
}

function topics(message: Readonly<Record<string, unknown>>): readonly Topic[] {
  const { topics: given } = message;
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const known = TOPICS.filter((topic) => list.includes(topic));
  if (list.length > 0 && list.every((topic) => TOPICS.includes(topic as Topic))) return known;
  throw refusal('topics', `topics must be ${TOPICS.join(' or ')}, or a list of them`);
}

function refusal(field: string, message: string): CodedError {
  return new CodedError('invalid_message', message, { field });
}

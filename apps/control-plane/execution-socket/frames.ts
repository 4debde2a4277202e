import type { StoredEvent } from '@cdui/execution';

/** What the server says on a socket besides stored events. */
export type ControlFrame =
  | { readonly type: 'attached'; readonly run_id: string; readonly cursor: number; readonly status: string }
  | { readonly type: 'detached'; readonly run_id: string | null }
  | { readonly type: 'cancel_ack'; readonly run_id: string; readonly status: string; readonly cancelled: boolean }
  | { readonly type: 'cache_cleared' }
  | { readonly type: 'watching'; readonly topics: readonly string[] }
  | { readonly type: 'run_changed' | 'worker_changed'; readonly id: string; readonly rev: number }
  | { readonly type: 'execution_stopped'; readonly reason: 'not_running' }
  | ({ readonly type: 'execution_error'; readonly error: string; readonly rejected: true } & Coded)
  | ({ readonly type: 'error'; readonly error: string } & Coded);

interface Coded {
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * A stored event as one flat frame `{type, run_id, cursor, ...payload}`. The payload is JSON text already and is put in as it is: no event is parsed
 * and written again for each socket that follows.
 */
export function eventFrame(runId: string, { type, cursor, payload }: StoredEvent): string {
  const head = `{"type":"${type}","run_id":"${runId}","cursor":${cursor}`;
  if (payload === 'null' || payload === '{}') return `${head}}`;
  // Few payloads name their run themselves; a member must not be there twice.
  if (payload.includes('"run_id"')) {
    const { type: _, run_id: __, cursor: ___, ...members } = JSON.parse(payload) as Record<string, unknown>;
    return JSON.stringify({ type, run_id: runId, cursor, ...members });
  }
  return `${head},${payload.slice(1)}`;
}

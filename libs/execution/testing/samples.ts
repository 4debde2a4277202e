import type { TerminalStatus } from '@cdui/protocol';
import type { RunEnd } from '../lifecycle';
import type { NewRun, StoredEvent } from '../stores';

export function newRun(id: string, queueSeq: number, more: Partial<NewRun> = {}): NewRun {
  return {
    id,
    name: `run ${id}`,
    lane: 'queued',
    graph: '{"nodes":[{"id":"a","type":"Start"}],"edges":[]}',
    options: { device: 'cpu', seed: null },
    queueKey: 'cpu',
    queueSeq,
    createdAt: 1_700_000_000_000 + queueSeq,
    ...more,
  };
}

export function storedEvent(cursor: number, text = 'x'): StoredEvent {
  return {
    cursor,
    type: 'node_status',
    payload: JSON.stringify({ node_id: text, status: 'running' }),
    ts: 1000 + cursor,
  };
}

export function ending(status: TerminalStatus = 'succeeded'): RunEnd {
  const event = { type: 'execution_complete', payload: null } as const;
  return { status, error: status === 'failed' ? 'It broke' : null, reason: null, event };
}

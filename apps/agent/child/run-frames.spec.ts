import type { RunOutcome } from '@cdui/protocol';
import { MAX_PIPE_FRAME_BYTES, PipeReader } from '@cdui/protocol';
import { deviceView } from '../runner/device-view';
import type { FrameFacts, FrameMessage } from './run-frames';
import { framesOf, isUrgent } from './run-frames';

const facts: FrameFacts = {
  view: deviceView(['cuda:1']),
  fingerprint: (runtime: unknown) => ({ runtime }),
  afterMs: () => 7,
  peakRss: () => 1234,
};
const LARGE = 'x'.repeat(MAX_PIPE_FRAME_BYTES);

function read(message: FrameMessage, more: Partial<FrameFacts> = {}) {
  const reader = new PipeReader();
  return framesOf(message, { ...facts, ...more }).flatMap((frame) =>
    reader.push(frame).map(({ kind, members }) => ({
      kind,
      ...(JSON.parse(`{${new TextDecoder().decode(members)}`) as Readonly<Record<string, unknown>>),
    })),
  );
}

const outcome: RunOutcome = {
  status: 'succeeded',
  error: null,
  reason: null,
  failed_nodes: [],
  skipped_nodes: [],
  peak_memory: [
    { device: 'cpu', bytes: 1, exact: false },
    { device: 'cuda:0', bytes: 7, exact: true },
  ],
  seconds: 1.5,
};

describe('framesOf', () => {
  it('leaves out what the agent adds', () => {
    const points = [{ name: 'loss', value: 1, step: 2, node_id: 'a' }];
    expect(read({ type: 'metrics', run_id: 'r', at_ms: 5, points })).toEqual([{ kind: 'metrics', at_ms: 5, points }]);
  });

  it('adds the devices, the fingerprint and the memory of this process', () => {
    expect(read({ type: 'run_started', run_id: 'r' })).toEqual([
      { kind: 'run_started', visible_devices: '1', device_aliases: { 'cuda:0': 'cuda:1' }, after_ms: 7 },
    ]);
    expect(read({ type: 'run_facts', run_id: 'r', facts: { runtime: 'onnx', more: 1 } })).toEqual([
      { kind: 'run_facts', facts: { runtime: 'onnx', more: 1, fingerprint: { runtime: 'onnx' } } },
    ]);
    const peak_memory = [
      { device: 'cpu', bytes: 1234, exact: true },
      { device: 'cuda:0', bytes: 7, exact: true },
    ];
    const message = { type: 'run_finished', run_id: 'r', outcome } as const;
    expect(read(message)).toEqual([{ kind: 'run_finished', outcome: { ...outcome, peak_memory } }]);
    expect(read(message, { peakRss: () => null })).toEqual([{ kind: 'run_finished', outcome }]);
  });

  it('says that a report is too large instead of sending it', () => {
    const artifact = { kind: 'text', path: 'a', meta: { text: LARGE }, node_id: 'a' };
    expect(read({ type: 'artifact', run_id: 'r', at_ms: 9, artifact })).toMatchObject([
      { kind: 'warning', at_ms: 9, warning: { kind: 'frame_too_large', params: { kind: 'artifact' } } },
    ]);
  });

  it('always reports the end, without outputs that are too large', () => {
    const large = { ...outcome, graph_outputs: { text: LARGE } };
    const [warning, end, ...more] = read({ type: 'run_finished', run_id: 'r', outcome: large });
    expect(warning).toMatchObject({ kind: 'warning', at_ms: 1500, warning: { kind: 'frame_too_large' } });
    expect(end).toMatchObject({ kind: 'run_finished', outcome: { status: 'succeeded', seconds: 1.5 } });
    expect(JSON.stringify(end)).not.toContain('graph_outputs');
    expect(more).toEqual([]);
  });
});

describe('isUrgent', () => {
  const event = (status: 'running' | 'progress'): FrameMessage => ({
    type: 'event',
    run_id: 'r',
    at_ms: 0,
    event: { type: 'node_status', payload: { node_id: 'a', status } },
  });

  it('is what tells where a run is, not how fast it goes', () => {
    expect(isUrgent(event('running'))).toBe(true);
    expect(isUrgent({ type: 'run_started', run_id: 'r' })).toBe(true);
    expect(isUrgent(event('progress'))).toBe(false);
    expect(isUrgent({ type: 'metrics', run_id: 'r', at_ms: 0, points: [] })).toBe(false);
  });
});

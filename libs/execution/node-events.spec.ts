import type { PortFacts } from '@cdui/protocol';
import { inferredMetrics, METRIC_BATCH_MS, METRIC_BATCH_POINTS, MetricBatcher } from './metrics';
import { artifactPayload, metricPoint, nodeEvent } from './node-events';
import { summaryOf } from './summaries';

const top = { nodeId: 'n', innerId: null };

describe('nodeEvent', () => {
  it('is node_status with what the node showed, then what its ports carry', () => {
    const ports: PortFacts[] = [{ port: 'value', kind: 'scalar', value: 3 }];
    expect(
      nodeEvent({ origin: top, status: 'completed', outputs: [{ output_kind: 'text', text: 'hi' }], ports }),
    ).toEqual({
      type: 'node_status',
      payload: {
        node_id: 'n',
        status: 'completed',
        outputs: [
          { output_kind: 'text', text: 'hi' },
          { output_kind: 'tensor_summary', tensor_summary: { type: 'scalar', value: 3 }, port: 'value' },
        ],
      },
    });
  });

  it('has no members for what there is not', () => {
    expect(nodeEvent({ origin: top, status: 'running' }).payload).toEqual({ node_id: 'n', status: 'running' });
  });

  it('carries errors, with the stack of debug mode below the text', () => {
    const report = { origin: top, status: 'error', error: 'it broke', errorType: 'broken', trace: 'at x' } as const;
    expect(nodeEvent(report).payload).toEqual({
      node_id: 'n',
      status: 'error',
      error: 'it broke\nat x',
      error_type: 'broken',
    });
  });

  it('is inner_node_status inside a container', () => {
    const origin = { nodeId: 'box', innerId: 'deep/a' };
    expect(nodeEvent({ origin, status: 'skipped', error: 'upstream node failed', outputs: [] })).toEqual({
      type: 'inner_node_status',
      payload: { node_id: 'box', inner_id: 'deep/a', status: 'skipped', error: 'upstream node failed' },
    });
  });
});

describe('summaryOf', () => {
  const tensor = { kind: 'tensor', shape: [2], dtype: 'float32', min: 1, max: 2, mean: 1.5, values: [1, 2] } as const;

  it('describes tensors; the mean of floating ones only', () => {
    expect(summaryOf(tensor)).toEqual({
      type: 'tensor',
      shape: [2],
      dtype: 'float32',
      min: 1,
      max: 2,
      mean: 1.5,
      values: [1, 2],
    });
    const whole = summaryOf({ ...tensor, dtype: 'int64', mean: null, values: null });
    expect(whole).toEqual({ type: 'tensor', shape: [2], dtype: 'int64', min: 1, max: 2 });
  });

  it('describes gradients with their health', () => {
    const health = { status: 'healthy', norm: 1, mean: 0.5, max: 1 } as const;
    expect(summaryOf({ ...tensor, kind: 'gradient', health })).toMatchObject({ type: 'tensor', health });
  });

  it('describes models, texts, lists and the rest', () => {
    expect(summaryOf({ kind: 'model', class: 'Linear', params: 6, trainable: 6 })).toEqual({
      type: 'model',
      class: 'Linear',
      params: 6,
      trainable: 6,
    });
    expect(summaryOf({ kind: 'string', value: 'x'.repeat(500) })).toEqual({
      type: 'string',
      value: `${'x'.repeat(197)}...`,
    });
    expect(summaryOf({ kind: 'list', length: 2, repr: '[1, 2]', values: [1, 2] })).toEqual({
      type: 'list',
      length: 2,
      repr: '[1, 2]',
      values: [1, 2],
    });
    expect(summaryOf({ kind: 'other', type: 'Dataset', repr: 'MNIST' })).toEqual({ type: 'Dataset', repr: 'MNIST' });
  });
});

describe('metrics', () => {
  const point = (step: number) => metricPoint('n', 'loss', 1, step);

  it('have null where the value is no number', () => {
    expect(metricPoint('n', 'loss', NaN, 1)).toEqual({ name: 'loss', value: null, step: 1, node_id: 'n' });
  });

  it('are batched until there are 64', () => {
    const batcher = new MetricBatcher();
    for (let step = 1; step < METRIC_BATCH_POINTS; step += 1) expect(batcher.add(point(step), 0)).toBeNull();
    expect(batcher.add(point(METRIC_BATCH_POINTS), 0)).toHaveLength(METRIC_BATCH_POINTS);
    expect(batcher.dueAt).toBeNull();
  });

  it('are due half a second after the first of a batch', () => {
    const batcher = new MetricBatcher();
    batcher.add(point(1), 1_000);
    batcher.add(point(2), 1_400);
    expect(batcher.dueAt).toBe(1_000 + METRIC_BATCH_MS);
    expect(batcher.due(1_499)).toBeNull();
    expect(batcher.due(1_500)).toHaveLength(2);
    batcher.add(point(3), 2_000);
    expect(batcher.add(point(4), 2_600)).toEqual([point(3), point(4)]);
  });

  it('are inferred from numeric ports of nodes that record none', () => {
    const ports: PortFacts[] = [
      { port: 'accuracy', kind: 'scalar', value: 0.9 },
      { port: 'broken', kind: 'scalar', value: NaN },
      { port: 'flag', kind: 'scalar', value: true },
      { port: 'name', kind: 'string', value: '7' },
    ];
    expect(inferredMetrics('n', ports, false)).toEqual([{ name: 'accuracy', value: 0.9, step: 1, node_id: 'n' }]);
    expect(inferredMetrics('n', ports, true)).toEqual([]);
  });
});

it('an artifact names its node', () => {
  expect(artifactPayload('n', 'model', '/m.safetensors', { bytes: 3 })).toEqual({
    kind: 'model',
    path: '/m.safetensors',
    meta: { bytes: 3 },
    node_id: 'n',
  });
});

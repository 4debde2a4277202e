import type { OutputEntry, RunHostMessage, RunOutcome } from '@cdui/protocol';

const run_id = 'run-1';

function status(at_ms: number, node_id: string, status: string, more: object = {}): RunHostMessage {
  return {
    type: 'event',
    run_id,
    at_ms,
    event: { type: 'node_status', payload: { node_id, status: status as 'running', ...more } },
  };
}

function progress(at_ms: number, frame: Readonly<Record<string, unknown>>): RunHostMessage {
  const outputs: OutputEntry[] = [{ output_kind: 'progress', progress: frame }];
  return status(at_ms, 'training', 'progress', { outputs });
}

const summary = (port: string, tensor_summary: Readonly<Record<string, unknown>>): OutputEntry => ({
  output_kind: 'tensor_summary',
  port,
  tensor_summary,
});

/** The messages of a small training run with a preset in it, as a run host sent them. */
export const recordedRun: readonly RunHostMessage[] = [
  { type: 'run_started', run_id },
  status(1, 'digits', 'running'),
  status(40, 'digits', 'completed', {
    outputs: [summary('dataset', { type: 'dataset', repr: 'the data set MNIST (60000 rows)' })],
  }),
  status(41, 'training', 'running'),
  progress(100, {
    event: 'config',
    config: {
      epochs: 2,
      optimizer: 'Adam',
      loss_fn: 'CrossEntropyLoss',
      params: 421642,
      device: 'cpu',
      start_epoch: 0,
    },
  }),
  progress(1100, { event: 'batch', epoch: 1, batch: 50, total_batches: 100, loss: 0.5, phase: 'train' }),
  progress(2000, { event: 'batch', epoch: 1, batch: 3, total_batches: 10, loss: 0.3, phase: 'validation' }),
  progress(2100, {
    event: 'epoch',
    epoch: 1,
    total_epochs: 2,
    loss: 0.412345,
    losses: [0.412345],
    lr: 0.001,
    val_loss: 0.31,
    val_accuracy: 0.9112,
  }),
  {
    type: 'metrics',
    run_id,
    at_ms: 2100,
    points: [{ name: 'train_loss', value: 0.412345, step: 1, node_id: 'training' }],
  },
  progress(4100, { event: 'epoch', epoch: 2, total_epochs: 2, loss: 0.2, losses: [0.412345, 0.2], lr: 0.001 }),
  { type: 'metrics', run_id, at_ms: 4100, points: [{ name: 'train_loss', value: 0.2, step: 2, node_id: 'training' }] },
  status(4200, 'training', 'completed', {
    outputs: [
      summary('model', { type: 'model', class: 'Module', params: 421642, trainable: 421642 }),
      summary('losses', {
        type: 'tensor',
        shape: [2],
        dtype: 'float32',
        min: 0.2,
        max: 0.412345,
        mean: 0.3061725,
        values: [0.412345, 0.2],
      }),
    ],
  }),
  { type: 'console', run_id, text: 'accuracy: 0.91\n' },
  {
    type: 'event',
    run_id,
    at_ms: 4250,
    event: {
      type: 'inner_node_status',
      payload: { node_id: 'block', inner_id: 'conv', status: 'error', error: 'out of range\n    at conv.js:1' },
    },
  },
  status(4251, 'block', 'error', { error: 'out of range\n    at conv.js:1' }),
  status(4252, 'after', 'skipped', { error: 'upstream node failed' }),
  {
    type: 'artifact',
    run_id,
    at_ms: 4300,
    artifact: { kind: 'model', path: '/data/models/m.safetensors', meta: {}, node_id: 'saved' },
  },
  { type: 'warning', run_id, at_ms: 4301, warning: { kind: 'precision', detail: 'bf16 runs as fp32' } },
];

export const recordedOutcome: RunOutcome = {
  status: 'failed',
  error: '1 node failed, the first is block',
  reason: null,
  failed_nodes: ['block'],
  skipped_nodes: ['after'],
  peak_memory: [],
  final_outputs: [
    {
      node_id: 'training',
      port: 'losses',
      summary: {
        type: 'tensor',
        shape: [2],
        dtype: 'float32',
        min: 0.2,
        max: 0.412345,
        mean: 0.3061725,
        values: [0.412345, 0.2],
      },
    },
    { node_id: 'p__inner', port: 'value', summary: { type: 'scalar', value: 0.91 } },
  ],
  graph_outputs: { answer: [1, 2] },
  seconds: 4.31,
};

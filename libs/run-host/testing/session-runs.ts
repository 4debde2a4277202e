import type { GraphFile, RunHostMessage, RunOptions, RunOutcome, WarningPayload } from '@cdui/protocol';
import type { HostSession } from '../client';
import type { Workplace } from './workplace';

/** What a run in a session reported. */
export interface SessionRun {
  readonly outcome: RunOutcome;
  /** `node:status`, without the start node's. */
  readonly trail: readonly string[];
  readonly warnings: readonly WarningPayload[];
  /** Values of a metric, in order. */
  metric(name: string): readonly (number | null)[];
}

/** Runs a graph in a session. */
export async function runIn(
  session: HostSession,
  workplace: Workplace,
  graph: GraphFile,
  options: RunOptions = {},
  runId = 'r',
): Promise<SessionRun> {
  const messages: RunHostMessage[] = [];
  const outcome = await session.run(
    { type: 'start', run_id: runId, graph, options, folders: workplace.folders },
    { take: (message) => messages.push(message) > 0, drained: () => Promise.resolve() },
    new AbortController().signal,
  );
  const events = messages.flatMap((message) => (message.type === 'event' ? message.event.payload : []));
  const points = messages.flatMap((message) => (message.type === 'metrics' ? message.points : []));
  return {
    outcome,
    trail: events.map(({ node_id: node, status }) => `${node}:${status}`).filter((entry) => !entry.startsWith('start')),
    warnings: messages.flatMap((message) => (message.type === 'warning' ? message.warning : [])),
    metric: (name) => points.flatMap((point) => (point.name === name ? point.value : [])),
  };
}

/** A linear model with plain SGD over the same batches in the same order: training it twice is training it longer. */
export function trainingGraph({ hidden = 8, epochs = 3 } = {}): GraphFile {
  const rows = Array.from({ length: 32 }, (_, row) => [Math.sin(row), Math.cos(row), (row % 7) / 7]);
  const grid = (values: readonly (readonly number[])[]) => ({
    value_mode: 'explicit',
    shape: `${values.length},${values[0]?.length ?? 0}`,
    values,
  });
  const layers = {
    version: 2,
    nodes: [
      { id: 'in', type: 'Input', ports: [{ id: 'x', name: 'x' }] },
      { id: 'fc1', type: 'Linear', params: { in_features: 3, out_features: hidden } },
      { id: 'act', type: 'Tanh' },
      { id: 'fc2', type: 'Linear', params: { in_features: hidden, out_features: 1 } },
      { id: 'out', type: 'Output', ports: [{ id: 'y', name: 'y' }] },
    ],
    edges: [
      { id: '1', source: 'in', sourceHandle: 'x', target: 'fc1' },
      { id: '2', source: 'fc1', target: 'act' },
      { id: '3', source: 'act', target: 'fc2' },
      { id: '4', source: 'fc2', target: 'out', targetHandle: 'y' },
    ],
  };
  const node = (id: string, type: string, params: Readonly<Record<string, unknown>> = {}) => ({
    id,
    type,
    data: { params },
  });
  const edge = (from: string, to: string) => {
    const [source, sourceHandle] = from.split('.') as [string, string];
    const [target, targetHandle] = to.split('.') as [string, string];
    return { source, sourceHandle, target, targetHandle };
  };
  return {
    nodes: [
      { id: 'start', type: 'Start' },
      node('features', 'TensorInput', grid(rows)),
      node('targets', 'TensorInput', grid(rows.map(([a, b, c]) => [a! + 2 * b! * c!]))),
      node('network', 'SequentialModel', { layers: JSON.stringify(layers) }),
      node('data', 'TensorDataset'),
      node('batches', 'DataLoader', { batch_size: 8, shuffle: false }),
      node('optimizer', 'Optimizer', { type: 'SGD', lr: 0.05 }),
      node('loss', 'Loss', { type: 'MSELoss' }),
      node('training', 'TrainingLoop', { epochs }),
    ],
    edges: [
      { source: 'start', sourceHandle: 'trigger', target: 'features', type: 'trigger' },
      edge('features.tensor', 'data.features'),
      edge('targets.tensor', 'data.targets'),
      edge('data.dataset', 'batches.dataset'),
      edge('network.model', 'optimizer.model'),
      edge('network.model', 'training.model'),
      edge('batches.dataloader', 'training.dataloader'),
      edge('optimizer.optimizer', 'training.optimizer'),
      edge('loss.loss_fn', 'training.loss_fn'),
    ],
  };
}

import { join } from 'node:path';
import type { GraphFile } from '@cdui/protocol';
import { readSafetensors } from '@cdui/tensor/files';
import { ExampleFolder, exampleGraph, runExample } from './run-example';

let folder: ExampleFolder;
beforeEach(() => (folder = new ExampleFolder()));
afterEach(() => folder.remove());

const EPOCHS = 30;
/** The flowers' graph with epochs enough to be stopped in, and nothing that ends it early. */
const changes = { training: { epochs: EPOCHS, early_stopping_patience: 0 } };

/** The same graph, going on from a checkpoint. */
function resuming(path: string): GraphFile {
  const graph = exampleGraph('mlp-csv', changes);
  const moved = new Set(['model', 'optimizer']);
  const edges = graph.edges.map((edge) =>
    edge.target === 'training' && moved.has(edge.targetHandle!)
      ? { ...edge, source: 'checkpoint', sourceHandle: edge.targetHandle! }
      : edge,
  );
  const edge = (source: string, sourceHandle: string, target: string, targetHandle: string) => ({
    source,
    sourceHandle,
    target,
    targetHandle,
  });
  return {
    ...graph,
    nodes: [...graph.nodes, { id: 'checkpoint', type: 'CheckpointLoader', data: { params: { path } } }],
    edges: [
      ...edges,
      edge('network', 'model', 'checkpoint', 'model'),
      edge('optimizer', 'optimizer', 'checkpoint', 'optimizer'),
      edge('checkpoint', 'epoch', 'training', 'start_epoch'),
    ],
  };
}

it('a run that is stopped while it trains leaves a checkpoint, from which another goes on', async () => {
  const stopped = await runExample('mlp-csv', folder.folders, {
    changes,
    stopWhen: ({ event, epoch }) => event === 'epoch' && epoch === 3,
  });
  expect(stopped.result.status).toMatch(/cancelled|interrupted/);
  const [{ path, meta, kind } = { path: '', meta: {}, kind: '' }] = stopped.artifacts;
  const { epoch, batch } = meta as { epoch: number; batch: number };
  expect(kind).toBe('checkpoint');
  expect(path).toBe(join(folder.folders.models, `interrupted/example-training-e${epoch}b${batch}.safetensors`));
  // The flag is seen before the next batch.
  expect({ epoch, batch }).toEqual({ epoch: 3, batch: 0 });
  const stored = JSON.parse(readSafetensors(path).metadata['checkpoint']!) as { losses: number[]; epoch: number };
  expect(stored).toMatchObject({ epoch: 3, scheduler_class: 'CosineAnnealingLR' });
  expect(stored.losses).toHaveLength(3);

  const resumed = await runExample(resuming(path), folder.folders);
  expect(resumed.result.status).toBe('succeeded');
  const epochs = resumed.progress.filter(({ event }) => event === 'epoch');
  expect(epochs.map((frame) => frame['epoch'])).toEqual(Array.from({ length: EPOCHS - 3 }, (_, i) => i + 4));
  // It goes on from weights that had learned something, at the rate that the schedule had reached.
  expect(epochs[0]!['loss']).toBeLessThan(stored.losses[0]!);
  expect(epochs[0]!['lr']).toBeLessThan(0.02);
  expect(resumed.metric('eval_accuracy')).toBeGreaterThanOrEqual(0.9);
});

import { recordedOutcome, recordedRun } from '../testing/recorded-run';
import { RunLines } from './run-lines';

it('says what a run said, line by line', () => {
  const lines = new RunLines();
  expect(recordedRun.flatMap((message) => lines.lines(message))).toEqual([
    '[digits] running',
    '[digits] completed -> dataset: the data set MNIST (60000 rows)',
    '[training] running',
    '[training] 421,642 params, Adam, CrossEntropyLoss, cpu, 2 epochs',
    '[training] epoch 1/2  loss 0.4123  val_loss 0.31  val_accuracy 91.12 %  lr 0.001  2.0 s',
    '[training] epoch 2/2  loss 0.2  lr 0.001  2.0 s',
    '[training] completed -> model: Model(421,642 params), losses: Tensor[2] float32 mean 0.3062 min 0.2 max 0.4123',
    'accuracy: 0.91',
    '[block/conv] ERROR: out of range',
    '[block] ERROR: out of range',
    '[after] skipped: upstream node failed',
    '[saved] saved /data/models/m.safetensors',
    'warning: bf16 runs as fp32',
  ]);
});

it('shows stacks to those who ask for them', () => {
  const lines = new RunLines(undefined, true);
  expect(recordedRun.flatMap((message) => lines.lines(message))).toContain(
    '[block] ERROR: out of range\n    at conv.js:1',
  );
});

it('ends with the verdict and what came out', () => {
  expect(new RunLines().ending(recordedOutcome)).toEqual([
    'error: 1 node failed, the first is block',
    'failed in 4.3 s',
    'Final Outputs',
    '  training.losses = Tensor[2] float32 mean 0.3062 min 0.2 max 0.4123',
    '  p/inner.value = 0.91',
    'Graph Outputs',
    '  answer = [1,2]',
  ]);
});

it('begins with the file and numbers its problems', () => {
  const lines = new RunLines();
  expect(lines.banner({ file: 'a.json', name: 'A', nodes: 1, edges: 2, planned: 4 })).toEqual([
    'A  a.json',
    '1 node, 2 edges, 4 to run',
  ]);
  const issue = (message: string) => ({ message, code: 'cycle', node_id: null, params: {} }) as const;
  expect(lines.validation([], [])).toEqual(['validation OK']);
  expect(lines.validation([issue('One'), issue('Two')], [issue('Three')])).toEqual([
    'warning: Three',
    '2 problems:',
    '  1. One',
    '  2. Two',
  ]);
});

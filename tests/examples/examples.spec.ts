import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { LONG } from '../../testing/long';
import type { PortFacts } from '@cdui/protocol';
import { ExampleFolder, exampleGraph, runExample, type Changes } from './run-example';

const ROOT = join(__dirname, '../..');
let folder: ExampleFolder;
beforeEach(() => (folder = new ExampleFolder()));
afterEach(() => folder.remove());

const run = (name: string, changes: Changes = {}) => runExample(name, folder.folders, { changes });
const number = (facts: PortFacts | undefined): number => (facts?.kind === 'scalar' ? Number(facts.value) : NaN);
const numbers = (facts: PortFacts | undefined): readonly number[] =>
  facts?.kind === 'tensor' ? (facts.values ?? []) : [];

if (LONG) jest.setTimeout(600_000);

describe('mnist-cnn', () => {
  // All digits need half a minute: they are for the long tests, and for the demo.
  const digits: Changes = LONG
    ? {}
    : { train_digits: { limit: 2_000 }, train_batches: { batch_size: 20 }, test_digits: { limit: 500 } };
  const [wanted, rows] = LONG ? [0.975, 10_000] : [0.8, 500];

  it('learns to read digits and saves what it learned', async () => {
    const { metric, port, progress, artifacts } = await run('mnist-cnn', digits);
    expect(metric('eval_accuracy')).toBeGreaterThanOrEqual(wanted);
    expect(number(port('evaluation', 'total'))).toBe(rows);
    // The last layer of validation and evaluation are the same weights on the same rows.
    expect(metric('val_accuracy')).toBeCloseTo(metric('eval_accuracy')!, 2);
    expect(progress[0]).toMatchObject({
      event: 'config',
      config: { params: 421_642, optimizer: 'Adam', lr: 0.001 },
    });
    const path = join(folder.folders.models, 'mnist-cnn.safetensors');
    expect(artifacts).toEqual([expect.objectContaining({ kind: 'model', path })]);
    expect(existsSync(path)).toBe(true);
  });

  it('learns nothing with a learning rate of 0', async () => {
    const { metric } = await run('mnist-cnn', { ...digits, optimizer: { lr: 0 } });
    expect(metric('eval_accuracy')).toBeLessThan(0.5);
  });
});

describe('mlp-csv', () => {
  it('learns to tell flowers apart', async () => {
    const { metric, console: text } = await run('mlp-csv');
    expect(metric('eval_accuracy')).toBeGreaterThanOrEqual(0.93);
    expect(metric('train_loss')).toBeLessThan(0.3);
    expect(text).toMatch(/accuracy/);
  });

  it('learns nothing with a learning rate of 0', async () => {
    const { metric } = await run('mlp-csv', { optimizer: { lr: 0 } });
    expect(metric('eval_accuracy')).toBeLessThan(0.8);
  });
});

describe('layers-backward', () => {
  it('gives a gradient for every weight and output on the way, and only there', async () => {
    const { port } = await run('layers-backward');
    expect(port('softmax', 'tensor')).toMatchObject({ kind: 'tensor', shape: [8, 10] });
    const rows = numbers(port('softmax', 'tensor'));
    for (let row = 0; row < 8; row++) {
      expect(rows.slice(row * 10, row * 10 + 10).reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    }
    for (const [node, shapes] of [
      ['conv', { weight: [8, 1, 3, 3], bias: [8] }],
      ['linear', { weight: [10, 1568], bias: [10] }],
    ] as const) {
      for (const [name, shape] of Object.entries(shapes)) {
        const gradient = port(node, `__weight_grad__${name}`);
        expect(gradient).toMatchObject({ kind: 'gradient', shape });
        if (gradient?.kind === 'gradient') expect(gradient.max! - gradient.min!).toBeGreaterThan(0);
      }
    }
    // The loss is the sum of squares: its gradient with respect to the scores is twice the scores.
    const scores = numbers(port('linear', 'tensor'));
    const gradient = port('linear', 'tensor__grad');
    expect(gradient?.kind === 'gradient' && gradient.values).toEqual(
      scores.map((score) => expect.closeTo(2 * score, 4)),
    );
    expect(port('largest', 'tensor__grad')).toBeUndefined();
  });
});

describe('save-load-inference', () => {
  it('asks a fresh network that got the saved weights', async () => {
    const { port, metric } = await run('save-load-inference');
    expect(numbers(port('best', 'tensor'))).toEqual([0, 1, 2]);
    expect(metric('eval_accuracy')).toBeGreaterThanOrEqual(0.9);
    expect(existsSync(join(folder.folders.models, 'examples/flowers.safetensors'))).toBe(true);
  });

  it('knows nothing when the saved network learned nothing', async () => {
    const { metric } = await run('save-load-inference', { optimizer: { lr: 0 } });
    expect(metric('eval_accuracy')).toBeLessThan(0.8);
  });
});

describe('graph-as-function', () => {
  const call = async (inputs: Readonly<Record<string, unknown>>) => {
    const { result } = await runExample('graph-as-function', folder.folders, { inputs });
    return result.graphOutputs as Record<string, { values: number | number[] }>;
  };

  it('answers with the winner and with shares', async () => {
    const { winner, values } = await call({ scores: [2, 5, 3, 1] });
    expect(winner).toMatchObject({ __type__: 'tensor', values: 1 });
    const shares = values!.values as number[];
    const total = [2, 5, 3, 1].reduce((sum, score) => sum + Math.exp(score), 0);
    expect(shares).toEqual([2, 5, 3, 1].map((score) => expect.closeTo(Math.exp(score) / total, 5)));
  });

  it('answers with the scores themselves when asked for', async () => {
    expect((await call({ scores: [2, 5], as_shares: 0 }))['values']!.values).toEqual([2, 5]);
  });

  it('refuses arguments that do not fit', async () => {
    await expect(call({})).rejects.toThrow(/scores/);
    await expect(call({ scores: [1], as_shares: 'yes' })).rejects.toThrow(/as_shares/);
  });

  it('takes the defaults in other runs', async () => {
    const { port } = await run('graph-as-function');
    expect(numbers(port('vector', 'result'))).toEqual([1, 3, 2]);
  });
});

describe('the examples folder', () => {
  const names = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.graph.json'));

  it.each(names)('%s is described, laid out from left to right, and has no two nodes in one place', (name) => {
    const graph = exampleGraph(name.replace('.graph.json', ''));
    expect(graph.description).toMatch(/\w.*\.$/);
    const at = new Map(graph.nodes.map((node) => [node.id, node.position!]));
    for (const { source, target } of graph.edges) expect(at.get(source)!.x).toBeLessThan(at.get(target)!.x);
    expect(new Set([...at.values()].map(({ x, y }) => `${x},${y}`)).size).toBe(at.size);
  });

  it.each(names)('%s is listed in docs/examples.md', (name) => {
    expect(readFileSync(join(ROOT, 'docs/examples.md'), 'utf8')).toContain(`\`${name.replace('.graph.json', '')}\``);
  });

  it('has the tables that its script makes', () => {
    const script = join(ROOT, 'examples/data/make-flowers.mjs');
    const made = execFileSync(process.execPath, [script, folder.folders.files], { encoding: 'utf8' });
    expect(made).toBe('');
    for (const table of ['flowers-train.csv', 'flowers-test.csv']) {
      expect(readFileSync(join(folder.folders.files, table), 'utf8')).toBe(
        readFileSync(join(ROOT, 'examples/data', table), 'utf8'),
      );
    }
  });
});

import type { HostTensor, LossSpec, ModuleSpec, Scope, TensorRuntime } from '@cdui/tensor/runtime';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import type { Figures, Report } from './figures';
import { CNN, MLP, transformer } from './models';
import { TorchReference } from './reference';
import { alternate, median, ratio, type Subject } from './rounds';

const THREADS = 2;
const ROUNDS = 7;

interface TrainingCase {
  readonly name: 'cnn' | 'mlp' | 'transformer';
  readonly spec: ModuleSpec;
  readonly loss: LossSpec;
  readonly steps: number;
  x(): HostTensor;
  target(): HostTensor;
}

const CASES: readonly TrainingCase[] = [
  {
    name: 'cnn',
    spec: CNN,
    loss: { type: 'CrossEntropy' },
    steps: 12,
    x: () => uniform([64, 1, 28, 28]),
    target: () => labels(64),
  },
  {
    name: 'mlp',
    spec: MLP,
    loss: { type: 'CrossEntropy' },
    steps: 40,
    x: () => uniform([64, 784]),
    target: () => labels(64),
  },
  {
    name: 'transformer',
    spec: transformer(128, 8, 2),
    loss: { type: 'MSE' },
    steps: 8,
    x: () => uniform([16, 64, 128]),
    target: () => uniform([16, 64, 128]),
  },
];

/** One training step (forward, loss, backward, Adam) against PyTorch with its default BLAS and with OpenBLAS. */
export async function benchTrain(report: Report): Promise<Figures> {
  const figures: Record<string, number> = {};
  const reference = await TorchReference.start('reference', THREADS);
  const openblas = await TorchReference.start('openblas', THREADS);
  for (const torch of [reference, openblas]) {
    if (torch)
      report(
        `PyTorch ${torch.description.torch}, ${torch.description.threads} threads, ${torch.description.blas.join(' ')}`,
      );
  }
  const runtime = await openOnnxRuntime({ device: 'cpu', threads: THREADS });
  const scope = runtime.openScope({ label: 'bench', seed: 1 });
  try {
    for (const item of CASES) {
      const subjects: Subject[] = [{ name: 'ours', measure: trainingSubject(scope, item) }];
      const others = { ref: reference, openblas };
      for (const [name, torch] of Object.entries(others)) {
        // The default BLAS takes a second a step on the transformer, whose figure does not need it.
        if (torch && !(name === 'ref' && item.name === 'transformer')) {
          subjects.push({
            name,
            measure: () => torch.measure(item.name, name === 'ref' ? Math.ceil(item.steps / 3) : item.steps),
          });
        }
      }
      const times = await alternate(subjects, ROUNDS);
      figures[`train.${item.name}.ms`] = median(times['ours']!);
      for (const name of Object.keys(others)) {
        const theirs = times[name];
        if (!theirs) continue;
        figures[`train.${item.name}.ratio_${name}`] = ratio(times['ours']!, theirs);
        report(
          `${item.name}: ${median(times['ours']!).toFixed(2)} ms a step, PyTorch (${name}) ${median(theirs).toFixed(2)} ms`,
        );
      }
    }
  } finally {
    reference?.close();
    openblas?.close();
    scope.close();
    await runtime.close();
  }
  return figures;
}

function trainingSubject(scope: Scope, item: TrainingCase): () => Promise<number> {
  const module = scope.module(item.spec);
  const trainer = scope.trainer({
    module,
    optimizer: scope.optimizer(module, { type: 'Adam', lr: 1e-3 }),
    loss: item.loss,
    feed: { inputs: { x: 'x' }, target: 'target' },
    precision: 'fp32',
  });
  const x = item.x();
  const rows = x.shape[0]!;
  const from = { x: scope.upload(x), target: scope.upload(item.target()) };
  return async () => {
    const start = performance.now();
    for (let step = 0; step < item.steps; step++) {
      await trainer.step({ rows: Int32Array.from({ length: rows }, (_, i) => i), from });
    }
    await trainer.collect();
    return (performance.now() - start) / item.steps;
  };
}

/** The embedded runtime's inference, awaited call by call, against PyTorch. */
export async function benchInfer(report: Report): Promise<Figures> {
  const figures: Record<string, number> = {};
  const references = {
    '': await TorchReference.start('reference', THREADS),
    _openblas: await TorchReference.start('openblas', THREADS),
  };
  const runtime = await openOnnxRuntime({ device: 'cpu', threads: THREADS });
  const scope = runtime.openScope({ label: 'bench', seed: 1 });
  try {
    for (const batch of [1, 256]) {
      const steps = batch === 1 ? 200 : 6;
      const subjects: Subject[] = [{ name: 'ours', measure: inferenceSubject(runtime, scope, batch, steps) }];
      for (const [suffix, torch] of Object.entries(references)) {
        if (torch) subjects.push({ name: suffix, measure: () => torch.measure(`infer${batch}`, steps) });
      }
      const times = await alternate(subjects, ROUNDS);
      figures[`infer.b${batch}.ms`] = median(times['ours']!);
      for (const suffix of Object.keys(references)) {
        const theirs = times[suffix];
        if (!theirs) continue;
        figures[`infer.b${batch}.ratio${suffix}`] = ratio(times['ours']!, theirs);
        report(
          `batch ${batch}: ${median(times['ours']!).toFixed(3)} ms, PyTorch${suffix} ${median(theirs).toFixed(3)} ms`,
        );
      }
    }
  } finally {
    for (const torch of Object.values(references)) torch?.close();
    scope.close();
    await runtime.close();
  }
  return figures;
}

function inferenceSubject(runtime: TensorRuntime, scope: Scope, batch: number, steps: number): () => Promise<number> {
  const module = scope.module(CNN);
  const x = scope.upload(uniform([batch, 1, 28, 28]));
  return async () => {
    const start = performance.now();
    for (let step = 0; step < steps; step++) {
      const inner = runtime.openScope({ label: 'infer' });
      await inner.read(inner.forward(module, { x }, { mode: 'eval' })['y']!);
      inner.close();
    }
    return (performance.now() - start) / steps;
  };
}

function uniform(shape: readonly number[]): HostTensor {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.random());
  return { shape, dtype: 'float32', data };
}

function labels(count: number): HostTensor {
  return {
    shape: [count],
    dtype: 'int64',
    data: BigInt64Array.from({ length: count }, () => BigInt(Math.floor(Math.random() * 10))),
  };
}

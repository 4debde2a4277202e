import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataLoaderValue, DatasetValue, NodeContext, PortValue } from '@cdui/node-sdk';
import { RuntimeError } from '@cdui/tensor/runtime';
import type { LossSpec, ModuleRef, OptimizerRef, Scope, StepOptions, TensorRuntime } from '@cdui/tensor/runtime';
import { sequentialBatches } from '../../data/loader';

/** What happened, in order. */
export interface Recorded {
  readonly steps: {
    readonly rows: readonly number[];
    readonly apply: boolean;
    readonly scale: number;
    readonly lr: number;
  }[];
  readonly evaluated: number[];
  readonly frames: Readonly<Record<string, unknown>>[];
  readonly metrics: { readonly name: string; readonly value: number; readonly step: number }[];
  readonly artifacts: { readonly kind: string; readonly path: string; readonly meta: unknown }[];
  readonly warnings: string[];
  readonly log: string[];
  readonly restored: string[];
  readonly saved: { readonly path: string; readonly meta: Readonly<Record<string, unknown>> }[];
  discarded: number;
  closed: number;
}

export interface FakeOptions {
  /** Loss of the n-th training step (0-based). */
  readonly loss?: (step: number) => number;
  /** Loss and share of correct rows of the n-th validation (0-based). */
  readonly validation?: (round: number) => { readonly loss: number; readonly correct: number };
  /** Asked before every step, with the steps accepted so far (training and validation together): stop now? */
  readonly stopAt?: (accepted: number) => boolean;
  /** Let the runtime refuse the step instead of the flag being seen first. */
  readonly refuse?: boolean;
  readonly recordsArtifacts?: boolean;
}

const MODULE = {
  kind: 'module',
  label: 'm',
  spec: { inputs: ['x'], outputs: [{ port: 'y', from: { input: 'x' } }], nodes: [] },
};

const base = mkdtempSync(join(tmpdir(), 'cdui-training-'));
let made = 0;

/** Removes what the fake runs of this file have written. */
export function removeFakeRuns(): void {
  rmSync(base, { recursive: true, force: true });
}

/** A training run whose runtime computes nothing: it only keeps count. */
export class FakeRun {
  readonly recorded: Recorded = {
    steps: [],
    evaluated: [],
    frames: [],
    metrics: [],
    artifacts: [],
    warnings: [],
    log: [],
    restored: [],
    saved: [],
    discarded: 0,
    closed: 0,
  };
  readonly model = {
    ...MODULE,
    retain: () => this.model,
    parameters: [{ name: 'w', shape: [2, 3], dtype: 'float32', trainable: true }],
  } as unknown as ModuleRef;
  readonly optimizer = {
    kind: 'optimizer',
    retain: () => this.optimizer,
    spec: { type: 'SGD', lr: 0.1 },
    module: this.model,
  } as unknown as OptimizerRef;
  readonly folder = join(base, String(made++));
  readonly context: NodeContext;
  now = 0;
  private lr = NaN;
  private accepted = 0;
  private rounds = 0;
  private snapshots = 0;
  private uncollected: number[] = [];

  constructor(private readonly options: FakeOptions = {}) {
    const { recorded } = this;
    const scope = this.scope();
    const runtime = {
      facts: { device: 'cpu', deviceName: 'test', precisions: new Set(['fp32']) },
      openScope: () => scope,
    } as unknown as TensorRuntime;
    const cancelled = (): boolean => !options.refuse && this.asksToStop();
    this.context = {
      nodeId: 'loop',
      runId: 'run/1',
      runtime,
      scope,
      device: 'cpu',
      signal: new AbortController().signal,
      get cancelled() {
        return cancelled();
      },
      recordsArtifacts: options.recordsArtifacts ?? true,
      folders: { models: this.folder, data: this.folder },
      log: (text: string) => void recorded.log.push(text),
      progress: (frame: Readonly<Record<string, unknown>>) => void recorded.frames.push(frame),
      metric: (name: string, value: number, step: number) => void recorded.metrics.push({ name, value, step }),
      artifact: (kind: string, path: string, meta: unknown) => void recorded.artifacts.push({ kind, path, meta }),
      warn: ({ detail }: { detail: string }) => void recorded.warnings.push(detail),
      drained: () => Promise.resolve(),
    } as unknown as NodeContext;
  }

  series(name: string): (readonly [step: number, value: number])[] {
    return this.recorded.metrics
      .filter((metric) => metric.name === name)
      .map(({ step, value }) => [step, value] as const);
  }

  framesOf(event: string): Readonly<Record<string, unknown>>[] {
    return this.recorded.frames.filter((frame) => frame['event'] === event);
  }

  inputs(
    loader: DataLoaderValue,
    others: Readonly<Record<string, PortValue>> = {},
    loss: LossSpec = { type: 'CrossEntropy' },
  ): Record<string, PortValue> {
    return {
      model: this.model,
      optimizer: this.optimizer,
      dataloader: loader,
      loss_fn: { kind: 'loss', spec: loss },
      ...others,
    };
  }

  private asksToStop(): boolean {
    return this.options.stopAt?.(this.accepted) ?? false;
  }

  private accept(): void {
    if (this.options.refuse && this.asksToStop()) throw new RuntimeError('cancelled', 'the run is stopping');
    this.accepted++;
  }

  private scope(): Scope {
    const { recorded } = this;
    const close = (): void => void recorded.closed++;
    return {
      bindOptimizer: () => ({ optimizer: this.optimizer, how: 'reused' }),
      upload: ({ data, shape }: { data: Float32Array; shape: readonly number[] }) => ({
        kind: 'tensor',
        retain: () => null,
        shape,
        values: Array.from(data),
      }),
      snapshot: () => ({ kind: 'state', name: `snapshot ${++this.snapshots}`, release: () => undefined }),
      restore: async (_: unknown, state: { name: string }) => {
        recorded.restored.push(state.name);
        return { missing: [], unexpected: [] };
      },
      saveState: async (path: string, _: unknown, metadata: Record<string, string>) => {
        writeFileSync(path, metadata['checkpoint']!);
        recorded.saved.push({ path, meta: JSON.parse(metadata['checkpoint']!) as Record<string, unknown> });
        return { bytes: 1, sha256: '' };
      },
      close: () => undefined,
      trainer: () => ({
        setHyper: ({ lr }: { lr: number }) => void (this.lr = lr),
        step: async (batch: { rows: Int32Array }, { apply = true, scale = 1 }: StepOptions) => {
          this.accept();
          const loss = (this.options.loss ?? (() => 1))(recorded.steps.length);
          recorded.steps.push({ rows: Array.from(batch.rows), apply, scale, lr: this.lr });
          this.uncollected.push(loss);
          return { index: recorded.steps.length - 1 };
        },
        collect: async () => {
          const loss = Float32Array.from(this.uncollected);
          this.uncollected = [];
          return { loss };
        },
        discard: () => void recorded.discarded++,
        close,
      }),
      evaluator: () => ({
        step: async (batch: { rows: Int32Array }) => {
          this.accept();
          recorded.evaluated.push(batch.rows.length);
        },
        collect: async () => {
          const { loss, correct } = (this.options.validation ?? (() => ({ loss: 1, correct: 0.5 })))(this.rounds++);
          return { losses: Float32Array.of(loss), correct: correct * 100, count: 100 };
        },
        close,
      }),
    } as unknown as Scope;
  }
}

/** A loader over that many rows in order, whose data set has an input and a target. */
export function fakeLoader(rows: number, batchSize: number): DataLoaderValue {
  const dataset: DatasetValue = {
    kind: 'dataset',
    name: 'rows',
    length: rows,
    classes: null,
    fields: [
      { name: 'x', shape: [3], dtype: 'float32' },
      { name: 'y', shape: [], dtype: 'int64' },
    ],
    affine: {},
    batch: (indices) => ({ rows: indices, from: {} }),
    handles: () => [],
  };
  return {
    kind: 'dataloader',
    dataset,
    batchSize,
    shuffle: false,
    dropLast: false,
    length: Math.ceil(rows / batchSize),
    epoch: () => sequentialBatches(rows, batchSize),
    handles: () => [],
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LossSpec, ModuleSpec, OpName, OptimizerSpec } from '../runtime';

type Keys = Readonly<Record<string, string>>;

interface CaseBase {
  readonly name: string;
}

/** PyTorch's answers, case by case; strings are keys of tensors in `golden.safetensors`. Made by `make_golden.py`. */
export type GoldenCase =
  | (CaseBase & {
      readonly kind: 'module';
      readonly mode: 'train' | 'eval';
      readonly spec: ModuleSpec;
      readonly inputs: Keys;
      readonly weights: Keys;
      readonly outputs: Keys;
      readonly upstream: Keys;
      /** `input:<port>` and `weight:<parameter>`. */
      readonly gradients: Keys;
      readonly buffers: Keys;
    })
  | (CaseBase & {
      readonly kind: 'op';
      readonly op: OpName;
      readonly attrs: unknown;
      readonly inputs: readonly string[];
      readonly outputs: readonly string[];
      /** By output index; absent where nothing is differentiable. */
      readonly upstream?: Keys;
      /** By input index. */
      readonly gradients: Keys;
    })
  | (CaseBase & {
      readonly kind: 'loss';
      readonly spec: LossSpec;
      readonly output: string;
      readonly target: string;
      readonly value: string;
      readonly upstream: string;
      readonly gradient: string;
    })
  | (CaseBase & {
      readonly kind: 'training';
      readonly spec: ModuleSpec;
      readonly loss: LossSpec;
      readonly optimizer: OptimizerSpec;
      readonly clip: number | null;
      readonly inputs: Keys;
      readonly target: string;
      readonly weights: Keys;
      /** Weights and buffers after as many steps as there are losses. */
      readonly after: Keys;
      readonly losses: string;
      /** Gradient norms before clipping. */
      readonly norms: string | null;
    });

/** The folder with the fixture, given the program's root. */
export function goldenFolder(root: string): string {
  return join(root, 'libs/tensor/golden');
}

export function goldenCases(folder: string): readonly GoldenCase[] {
  return JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8')) as GoldenCase[];
}

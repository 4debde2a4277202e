import type { Tensor } from 'onnxruntime-node';
import { normaliseOptimizer, type Hyper, type OptimizerSpec, type Shape } from '../runtime';
import type { Compiler, OptimizerPlan } from './compiler';
import { keyOf } from './keys';
import type { ModuleValue } from './modules';
import { filled, scalarTensor } from './tensors';

/** Entry of an optimiser's state that counts the updates made; the others are the slots of its parameters. */
export const STEP_ENTRY = 'step';

/** An optimiser's state for one module. Like weights, its tensors are replaced, never written to. */
export class OptimizerValue {
  readonly kind = 'optimizer';
  readonly plan: OptimizerPlan;
  readonly slots: readonly { readonly name: string; readonly shape: Shape; readonly fill: number }[];
  readonly places: ReadonlyMap<string, number>;
  /** By place of the slot. */
  readonly tensors: Tensor[];
  /** The spec without the rate, which is fed: optimisers of one structure share graphs. */
  readonly structure: string;
  readonly hyper: { lr: number; momentum: number; beta1: number };
  /** Updates made. */
  step = 0;

  constructor(
    private readonly compiler: Compiler,
    readonly module: ModuleValue,
    readonly spec: OptimizerSpec,
  ) {
    const normal = normaliseOptimizer(spec);
    this.plan = compiler.optimizer(spec);
    this.slots = this.plan.slots(module.trainable.map((place) => module.metas[place]!));
    this.places = new Map(this.slots.map(({ name }, at) => [name, at]));
    this.tensors = this.slots.map(({ shape, fill }) => filled('float32', shape, fill));
    this.structure = keyOf({ ...normal, lr: 0 });
    this.hyper = {
      lr: normal.lr,
      momentum: normal.type === 'SGD' ? normal.momentum : 0,
      beta1: normal.type === 'SGD' ? 0 : normal.betas[0],
    };
  }

  setHyper(hyper: Hyper): void {
    for (const name of ['lr', 'momentum', 'beta1'] as const) {
      if (hyper[name] !== undefined) this.hyper[name] = hyper[name];
    }
  }

  /** The state as named tensors: `step` (float32, no dimensions), then the slots. */
  entries(): Map<string, Tensor> {
    const slots = this.slots.map(({ name }, at) => [name, this.tensors[at]!] as const);
    return new Map<string, Tensor>([[STEP_ENTRY, scalarTensor(this.step)], ...slots]);
  }

  /** The same optimiser for another module; `carry` keeps the state, which then must fit slot by slot. */
  boundTo(module: ModuleValue, carry: boolean): OptimizerValue {
    const other = new OptimizerValue(this.compiler, module, this.spec);
    other.setHyper(this.hyper);
    if (carry) {
      other.tensors.splice(0, this.tensors.length, ...this.tensors);
      other.step = this.step;
    }
    return other;
  }
}

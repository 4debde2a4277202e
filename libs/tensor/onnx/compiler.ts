import type { LossSpec, ModuleSpec, OpName, OptimizerSpec, Shape } from '../runtime';
import { gradients } from './grad/gradients';
import { encodeGraph } from './graph/encode';
import { emitModule } from './layers/module';
import { emitLoss } from './losses/losses';
import { emitOp } from './ops/emit';
import { optimizerPlan } from './optim/optimizer';
import type { Graph } from './graph/graph';
import type { Value } from './graph/value';

/** What emission needs from whoever runs the graph. */
export interface EmitContext {
  readonly mode: 'train' | 'eval';
  /** `count` numbers, uniform in [0, 1), float32, shape [count], fresh at each run of the graph. */
  uniform(count: number): Value;
}

/** A module's outputs by port, and the buffers (running statistics) that a training pass replaces, by full name. */
export interface EmittedModule {
  readonly outputs: Readonly<Record<string, Value>>;
  readonly buffers: Readonly<Record<string, Value>>;
}

/** One optimiser step as graph fragment. */
export interface EmittedOptimizer {
  /** New parameter values, in the order of the parameters given. */
  readonly parameters: readonly Value[];
  /** New state, by slot name (`exp_avg.<parameter>`); the same names are graph inputs. */
  readonly state: Readonly<Record<string, Value>>;
}

/** The part of an optimiser that lives outside the graph: state slots and the scalars fed at each step. */
export interface OptimizerPlan {
  /** State tensors, zero unless `fill` says otherwise. Names are PyTorch's slot names with the parameter's name: `exp_avg.fc.weight`. */
  slots(
    parameters: readonly { readonly name: string; readonly shape: Shape }[],
  ): readonly { readonly name: string; readonly shape: Shape; readonly fill: number }[];
  /** Scalar feeds (float32, shape []) of step `step` (from 1). */
  scalars(
    step: number,
    hyper: { readonly lr: number; readonly momentum: number; readonly beta1: number },
  ): Readonly<Record<string, number>>;
  /** Adds the update to the graph; declares the state and scalar inputs it needs. */
  emit(
    graph: Graph,
    parameters: readonly { readonly name: string; readonly value: Value }[],
    gradients: readonly Value[],
  ): EmittedOptimizer;
}

/** The compiler's surface: vocabulary in, ONNX out. Implemented by the modules beside this file. */
export interface Compiler {
  /** One op of the vocabulary (not the random creators: rand, randn, randint, randperm, which the server fills itself). */
  emitOp(graph: Graph, name: OpName, inputs: readonly Value[], attrs: unknown, context: EmitContext): readonly Value[];
  /** `weights` by full name, `<node id>.<weight name>`, nested modules `<node id>.<inner id>.<weight name>`. */
  emitModule(
    graph: Graph,
    spec: ModuleSpec,
    inputs: Readonly<Record<string, Value>>,
    weights: Readonly<Record<string, Value>>,
    context: EmitContext,
  ): EmittedModule;
  emitLoss(graph: Graph, spec: LossSpec, output: Value, target: Value | null): Value;
  /** Gradients of the sum of `of` (times `seed`, default 1) with respect to `wanted`; null where it does not depend on the item. */
  gradients(graph: Graph, of: Value, wanted: readonly Value[], seed?: Value): readonly (Value | null)[];
  optimizer(spec: OptimizerSpec): OptimizerPlan;
  /** ONNX model bytes that compute `outputs` (name -> value) from the graph inputs they reach; `inputs` lists those names. */
  encode(
    graph: Graph,
    outputs: Readonly<Record<string, Value>>,
  ): { readonly bytes: Uint8Array; readonly inputs: readonly string[]; readonly nodes: number };
}

/** Vocabulary in, ONNX out. */
export const compiler: Compiler = {
  emitOp,
  emitModule,
  emitLoss,
  gradients,
  optimizer: optimizerPlan,
  encode: encodeGraph,
};

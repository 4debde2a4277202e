import { invalid } from '../fields';
import type { GeneratorRef, Handle, ModuleRef, OptimizerRef, StateRef, TensorRef } from '../handles';
import type { Scope, TensorRuntime, TensorStats } from '../runtime';
import type { Evaluator, EvaluatorSpec, Trainer, TrainerSpec } from '../training';
import type { Device, HostTensor } from '../values';
import type { ModuleSpec, OpName, OptimizerSpec, OpTable, Precision, SliceRange } from '../vocabulary';
import type { Replies } from '../wire';
import { asRemote } from './ownership';
import * as compute from './scope-compute';
import { ScopeCore, type ScopeHost, type ScopeOptions } from './scope-core';
import * as state from './scope-state';
import * as training from './scope-training';

/** The seam's scope: one method a command, each told in the file of its family. */
export class ClientScope implements Scope {
  readonly label: string;
  private readonly core: ScopeCore;

  constructor(host: ScopeHost, options: ScopeOptions) {
    this.label = options.label;
    this.core = new ScopeCore(host, options);
  }

  get runtime(): TensorRuntime {
    return this.core.host.runtime;
  }

  op<N extends OpName>(
    name: N,
    inputs: readonly TensorRef[],
    attrs: OpTable[N],
    options: { generator?: GeneratorRef } = {},
  ): TensorRef {
    const outputs = compute.opMany(this.core, name, inputs, attrs, options);
    if (outputs.length !== 1) {
      throw this.core.named(invalid(`${name} has ${outputs.length} outputs: use opMany`), name);
    }
    return outputs[0]!;
  }

  opMany<N extends OpName>(
    name: N,
    inputs: readonly TensorRef[],
    attrs: OpTable[N],
    options: { generator?: GeneratorRef } = {},
  ): readonly TensorRef[] {
    return compute.opMany(this.core, name, inputs, attrs, options);
  }

  upload(value: HostTensor, options: { device?: Device; requiresGrad?: boolean } = {}): TensorRef {
    return compute.upload(this.core, value, options);
  }

  to(tensor: TensorRef, device: Device): TensorRef {
    return compute.to(this.core, tensor, device);
  }

  generator(seed: number): GeneratorRef {
    this.core.checkOpen('generator');
    return this.core.newGenerator(seed);
  }

  module(spec: ModuleSpec, options: { generator?: GeneratorRef; device?: Device } = {}): ModuleRef {
    return compute.module(this.core, spec, options);
  }

  forward(
    module: ModuleRef,
    inputs: Readonly<Record<string, TensorRef>>,
    options: { mode: 'train' | 'eval'; precision?: Precision },
  ): Readonly<Record<string, TensorRef>> {
    return compute.forward(this.core, module, inputs, options);
  }

  snapshot(source: ModuleRef | OptimizerRef): StateRef {
    return state.snapshot(this.core, source);
  }

  restore(
    target: ModuleRef | OptimizerRef,
    from: StateRef,
    options: { strict?: boolean } = {},
  ): Promise<{ missing: string[]; unexpected: string[] }> {
    return state.restore(this.core, target, from, options);
  }

  saveState(
    path: string,
    states: Readonly<Record<string, StateRef>>,
    metadata: Readonly<Record<string, string>>,
  ): Promise<{ bytes: number; sha256: string }> {
    return state.saveState(this.core, path, states, metadata);
  }

  loadState(path: string): Promise<{ states: Record<string, StateRef>; metadata: Record<string, string> }> {
    return state.loadState(this.core, path);
  }

  stateFrom(entries: Readonly<Record<string, TensorRef>>): StateRef {
    return state.stateFrom(this.core, entries);
  }

  tensorsOf(from: StateRef): Readonly<Record<string, TensorRef>> {
    return state.tensorsOf(this.core, from);
  }

  optimizer(module: ModuleRef, spec: OptimizerSpec): OptimizerRef {
    return training.optimizer(this.core, module, spec);
  }

  bindOptimizer(
    optimizer: OptimizerRef,
    module: ModuleRef,
  ): { optimizer: OptimizerRef; how: 'reused' | 'rebound' | 'rebuilt' } {
    return training.bindOptimizer(this.core, optimizer, module);
  }

  trainer(spec: TrainerSpec): Trainer {
    return training.trainer(this.core, spec);
  }

  evaluator(spec: EvaluatorSpec): Evaluator {
    return training.evaluator(this.core, spec);
  }

  backward(
    of: TensorRef,
    wanted: { tensors: readonly TensorRef[]; modules: readonly ModuleRef[] },
  ): Promise<{ tensors: (TensorRef | null)[]; parameters: Record<string, TensorRef | null>[] }> {
    return compute.backward(this.core, of, wanted);
  }

  read(tensor: TensorRef, options: { ranges?: readonly SliceRange[] } = {}): Promise<HostTensor> {
    return compute.read(this.core, tensor, options);
  }

  readScalar(tensor: TensorRef): Promise<number> {
    return compute.readScalar(this.core, tensor);
  }

  async stats(tensor: TensorRef): Promise<TensorStats> {
    this.core.checkOpen('stats');
    this.core.use(tensor, 'stats');
    return this.core.ask<Replies['stats']>(['stats', tensor.id]);
  }

  keep<H extends Handle>(handle: H, owner?: Scope): H {
    const remote = asRemote(handle);
    remote.checkLive('keep');
    this.core.owned.give(remote);
    if (owner instanceof ClientScope) owner.core.owned.hold(remote);
    return handle;
  }

  settle(): Promise<void> {
    return this.core.host.connection.settle(this.core.issuer);
  }

  close(): void {
    this.core.close();
  }
}

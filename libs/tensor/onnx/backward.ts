import type { Tensor } from 'onnxruntime-node';
import { RuntimeError, type DType } from '../runtime';
import type { Replies } from '../runtime/wire';
import type { Compiler } from './compiler';
import { Graph } from './graph/graph';
import type { Value } from './graph/value';
import { digest, tensorKey } from './keys';
import type { ModuleValue } from './modules';
import type { TensorValue } from './objects';
import type { SessionCache } from './sessions';
import type { ModuleRecord, Produced, TapeInput, TapeRecord } from './tape';
import { filled } from './tensors';
import { feedUniforms, UniformInputs, uniformName } from './uniforms';

export interface BackwardCall {
  readonly of: TensorValue;
  readonly tensors: readonly TensorValue[];
  readonly modules: readonly ModuleValue[];
}

export interface BackwardResult {
  readonly tensors: readonly (Tensor | null)[];
  /** Per module: gradients of its trainable parameters by name. */
  readonly parameters: readonly Readonly<Record<string, Tensor | null>>[];
}

interface BackwardInfo {
  /** Per wanted item: the graph output, or null where `of` does not depend on it. */
  readonly outputs: readonly (string | null)[];
}

/**
 * Gradients over the record: one graph that computes the recorded steps again from the leaves, with the random numbers they drew, and
 * differentiates them.
 */
export class Backward {
  constructor(
    private readonly compiler: Compiler,
    private readonly sessions: SessionCache,
  ) {}

  async run({ of, tensors, modules }: BackwardCall): Promise<BackwardResult> {
    if (!of.origin) {
      throw new RuntimeError(
        'invalid_argument',
        'backward: the tensor has no recorded history: make it from tensors with requiresGrad or from modules in a scope with recordGradients',
      );
    }
    if (of.origin.kind === 'leaf') {
      const ones = filled(of.tensor.type as DType, of.tensor.dims, 1);
      return {
        tensors: tensors.map(({ origin }) => (origin === of.origin ? ones : null)),
        parameters: modules.map(noGradients),
      };
    }
    const tape = new Tape(of.origin);
    const wanted = [
      ...tensors.map(({ origin }) => (origin ? tape.slotsOf(origin) : [])),
      ...modules.flatMap((module) => module.trainable.map((place) => tape.weightSlots(module, place))),
    ];
    const key = digest(`${tape.key()}|${wanted.map((slots) => slots.join('+')).join()}`);
    let compiled = this.sessions.find<BackwardInfo>('training', key);
    if (!compiled) {
      const graph = new Graph();
      const values = tape.emit(graph, this.compiler);
      const flat = [...new Set(wanted.flat())];
      const gradients = this.compiler.gradients(
        graph,
        values.get(tape.root)!,
        flat.map((slot) => values.get(slot)!),
      );
      const bySlot = new Map(flat.map((slot, at) => [slot, gradients[at]!]));
      const outputs: Record<string, Value> = {};
      const names = wanted.map((slots, at) => {
        const parts = slots.flatMap((slot) => bySlot.get(slot) ?? []);
        if (parts.length === 0) return null;
        outputs[`g${at}`] = parts.length === 1 ? parts[0]! : graph.op1('Sum', parts, parts[0]!);
        return `g${at}`;
      });
      if (Object.keys(outputs).length === 0) return nothing(tensors.length, modules);
      const { bytes } = this.compiler.encode(graph, outputs);
      compiled = await this.sessions.add<BackwardInfo>('training', key, bytes, { outputs: names });
    }
    const fetched = await compiled.session.run(tape.feeds());
    const results = compiled.info.outputs.map((name) => (name === null ? null : fetched[name]!));
    let at = tensors.length;
    return {
      tensors: results.slice(0, tensors.length),
      parameters: modules.map((module) =>
        Object.fromEntries(module.trainable.map((place) => [module.names[place]!, results[at++]!])),
      ),
    };
  }
}

function noGradients(module: ModuleValue): Record<string, null> {
  return Object.fromEntries(module.trainable.map((place) => [module.names[place]!, null]));
}

function nothing(tensors: number, modules: readonly ModuleValue[]): BackwardResult {
  return { tensors: new Array<null>(tensors).fill(null), parameters: modules.map(noGradients) };
}

/** What the reply says: which of the wanted gradients exist. */
export function existing(result: BackwardResult): Replies['backward'] {
  return {
    tensors: result.tensors.map((tensor) => tensor !== null),
    parameters: result.parameters.map((map) =>
      Object.fromEntries(Object.entries(map).map(([name, tensor]) => [name, tensor !== null])),
    ),
  };
}

/**
 * The records that one tensor depends on, in order, with a short name (slot) for every value: `t<i>` for tensors that come in (leaves,
 * constants, weights), `r<i>.<output>` for the outputs of record i.
 */
class Tape {
  readonly root: string;
  private readonly records: TapeRecord[] = [];
  private readonly indexOf = new Map<TapeRecord, number>();
  private readonly incoming: Tensor[] = [];
  private readonly slots = new Map<Tensor, string>();

  constructor(of: Produced) {
    this.collect(of.record);
    this.root = this.produced(of);
    for (const record of this.records) {
      for (const input of record.inputs) if (input.kind !== 'produced') this.tensorSlot(input.tensor);
      if (record.kind === 'module') for (const weight of record.weights) this.tensorSlot(weight);
    }
  }

  /** The slots of a tensor that may be part of this record: one, or none. */
  slotsOf(origin: NonNullable<TensorValue['origin']>): readonly string[] {
    if (origin.kind === 'produced') return this.indexOf.has(origin.record) ? [this.produced(origin)] : [];
    const slot = this.slots.get(origin.tensor);
    return slot === undefined ? [] : [slot];
  }

  /** The slots of a weight: one for each value that it had in the record, usually one. */
  weightSlots(module: ModuleValue, place: number): readonly string[] {
    const slots = this.records.flatMap((record) =>
      record.kind === 'module' && record.module === module ? [this.slots.get(record.weights[place]!)!] : [],
    );
    return [...new Set(slots)];
  }

  /** Equal for tapes that compile to the same graph. */
  key(): string {
    const parts = this.records.map((record) => {
      const inputs = record.inputs.map((input) => this.input(input)).join();
      if (record.kind === 'op') return `${record.key}(${inputs})`;
      const weights = record.weights.map((weight) => this.slots.get(weight)!).join();
      return `${record.module.structure}|${record.mode}(${inputs})(${weights})`;
    });
    return `backward|${this.incoming.map(tensorKey).join()}|${parts.join(';')}|${this.root}`;
  }

  feeds(): Record<string, Tensor> {
    const feeds: Record<string, Tensor> = {};
    this.incoming.forEach((tensor, at) => (feeds[`t${at}`] = tensor));
    this.records.forEach((record, at) => feedUniforms(feeds, prefix(at), record.draws));
    return feeds;
  }

  emit(graph: Graph, compiler: Compiler): ReadonlyMap<string, Value> {
    const values = new Map<string, Value>();
    this.incoming.forEach((tensor, at) =>
      values.set(`t${at}`, graph.input(`t${at}`, tensor.dims, tensor.type as DType)),
    );
    this.records.forEach((record, at) => {
      const uniforms = new UniformInputs(graph, prefix(at));
      const inputs = record.inputs.map((input) => values.get(this.input(input))!);
      const outputs =
        record.kind === 'op'
          ? compiler.emitOp(graph, record.name, inputs, record.attrs, uniforms.context('train'))
          : this.emitModule(graph, compiler, record, inputs, values, uniforms);
      if (uniforms.counts.length !== record.draws.length) {
        throw new RuntimeError(
          'runtime_failed',
          `the record lacks the random numbers of ${uniformName(prefix(at), record.draws.length)}`,
        );
      }
      outputs.forEach((value, output) => values.set(`r${at}.${output}`, value));
    });
    return values;
  }

  private emitModule(
    graph: Graph,
    compiler: Compiler,
    record: ModuleRecord,
    inputs: readonly Value[],
    values: ReadonlyMap<string, Value>,
    uniforms: UniformInputs,
  ): readonly Value[] {
    const { module, mode } = record;
    const ports = Object.fromEntries(module.spec.inputs.map((port, at) => [port, inputs[at]!]));
    const weights = Object.fromEntries(
      module.names.map((name, place) => [name, values.get(this.slots.get(record.weights[place]!)!)!]),
    );
    const { outputs } = compiler.emitModule(graph, module.spec, ports, weights, uniforms.context(mode));
    return module.spec.outputs.map(({ port }) => outputs[port]!);
  }

  /** Depth first with a stack of its own: a record may be deeper than the call stack allows. */
  private collect(root: TapeRecord): void {
    const entered = new Set<TapeRecord>([root]);
    const stack: { readonly record: TapeRecord; next: number }[] = [{ record: root, next: 0 }];
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const input = top.record.inputs[top.next++];
      if (!input) {
        this.indexOf.set(top.record, this.records.push(top.record) - 1);
        stack.pop();
      } else if (input.kind === 'produced' && !entered.has(input.record)) {
        entered.add(input.record);
        stack.push({ record: input.record, next: 0 });
      }
    }
  }

  private input(input: TapeInput): string {
    return input.kind === 'produced' ? this.produced(input) : this.slots.get(input.tensor)!;
  }

  private produced({ record, output }: Produced): string {
    return `r${this.indexOf.get(record)!}.${output}`;
  }

  private tensorSlot(tensor: Tensor): void {
    if (this.slots.has(tensor)) return;
    this.slots.set(tensor, `t${this.incoming.push(tensor) - 1}`);
  }
}

const prefix = (record: number) => `r${record}.`;

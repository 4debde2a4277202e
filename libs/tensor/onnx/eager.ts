import type { Tensor } from 'onnxruntime-node';
import { inferOp, opDef, RuntimeError, showShape, type OpName, type OpTable, type TensorMeta } from '../runtime';
import type { Compiler } from './compiler';
import { create, CREATORS } from './creators';
import { Graph } from './graph/graph';
import { keyOf, tensorKey } from './keys';
import type { TensorValue } from './objects';
import type { Generator } from './random';
import type { Compiled, SessionCache } from './sessions';
import { plain, produced, tapeInput, type OpRecord } from './tape';
import { aliasOf, metaOf } from './tensors';
import { drawUniforms, feedUniforms, UniformInputs } from './uniforms';

/** Ops that only change what is known about the data. */
const ALIASES: ReadonlySet<OpName> = new Set<OpName>(['reshape', 'squeeze', 'unsqueeze', 'clone', 'detach']);

interface EagerInfo {
  /** How many random numbers each run takes. */
  readonly draws: readonly number[];
  readonly outputs: readonly string[];
}

export interface OpCall {
  readonly name: OpName;
  readonly inputs: readonly TensorValue[];
  readonly attrs: unknown;
  /** Record it, if gradients can reach it. */
  readonly grad: boolean;
  /** The stream of a random op. */
  generator(): Generator;
}

/** Runs single ops, each through a cached session of one thread. */
export class EagerOps {
  constructor(
    private readonly compiler: Compiler,
    private readonly sessions: SessionCache,
    /** Compare each result with shape inference. */
    private readonly check: boolean,
  ) {}

  async run(call: OpCall): Promise<readonly TensorValue[]> {
    const { name, attrs } = call;
    if (CREATORS.has(name)) return this.checked(call, [create(name, attrs, call.generator)]).map(plain);
    const recorded = call.grad && opDef(name).differentiable && call.inputs.some((input) => input.origin !== null);
    const attrsKey = keyOf(attrs);
    let draws: readonly Float32Array[] = [];
    let results: readonly Tensor[];
    if (ALIASES.has(name)) results = [alias(call)];
    else {
      const { session, info } = await this.session(call, attrsKey);
      const feeds: Record<string, Tensor> = {};
      for (let at = 0; at < call.inputs.length; at++) feeds[`i${at}`] = call.inputs[at]!.tensor;
      if (info.draws.length) {
        draws = drawUniforms(info.draws, call.generator());
        feedUniforms(feeds, '', draws);
      }
      const fetched = await session.run(feeds);
      results = info.outputs.map((output) => fetched[output]!);
    }
    this.checked(call, results);
    if (!recorded) return results.map(plain);
    const record: OpRecord = {
      kind: 'op',
      name,
      attrs,
      key: `${name}|${attrsKey}`,
      inputs: call.inputs.map(tapeInput),
      draws,
    };
    return results.map((tensor, output) => produced(tensor, record, output));
  }

  private async session(call: OpCall, attrsKey: string): Promise<Compiled<EagerInfo>> {
    let key = `${call.name}|${attrsKey}`;
    for (const { tensor } of call.inputs) key += `|${tensorKey(tensor)}`;
    const known = this.sessions.find<EagerInfo>('eager', key);
    if (known) return known;
    const graph = new Graph();
    const metas = call.inputs.map(({ tensor }) => metaOf(tensor));
    const { attrs } = infer(call, metas);
    const uniforms = new UniformInputs(graph);
    const inputs = metas.map(({ shape, dtype }, at) => graph.input(`i${at}`, shape, dtype));
    const values = this.compiler.emitOp(graph, call.name, inputs, attrs, uniforms.context('train'));
    const outputs = Object.fromEntries(values.map((value, at) => [`o${at}`, value]));
    const { bytes } = this.compiler.encode(graph, outputs);
    return this.sessions.add<EagerInfo>('eager', key, bytes, { draws: uniforms.counts, outputs: Object.keys(outputs) });
  }

  private checked(call: OpCall, results: readonly Tensor[]): readonly Tensor[] {
    if (!this.check) return results;
    const { outputs } = infer(
      call,
      call.inputs.map(({ tensor }) => metaOf(tensor)),
    );
    checkMetas(call.name, results, outputs);
    return results;
  }
}

/** @throws RuntimeError `runtime_failed` when a result is not what shape inference promised */
export function checkMetas(what: string, results: readonly Tensor[], wanted: readonly TensorMeta[]): void {
  results.forEach((result, at) => {
    const meta = wanted[at];
    if (!meta || meta.dtype !== result.type || showShape(meta.shape) !== showShape(result.dims)) {
      const promised = meta ? `${meta.dtype} ${showShape(meta.shape)}` : 'nothing';
      throw new RuntimeError(
        'runtime_failed',
        `${what} gave ${result.type} ${showShape(result.dims)} as output ${at}, shape inference promised ${promised}`,
      );
    }
  });
}

function alias(call: OpCall): Tensor {
  const { tensor } = call.inputs[0]!;
  return aliasOf(tensor, infer(call, [metaOf(tensor)]).outputs[0]!.shape);
}

function infer(call: OpCall, metas: readonly TensorMeta[]): ReturnType<typeof inferOp> {
  return inferOp(call.name, metas, (call.attrs ?? {}) as OpTable[OpName]);
}

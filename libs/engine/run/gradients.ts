import { isModel, isTensor } from '@cdui/node-sdk';
import type { GradientFacts, GradientHealth, PortFacts, TensorFacts } from '@cdui/protocol';
import type { ModuleRef, Scope, TensorRef } from '@cdui/tensor/runtime';
import type { StatusReport } from '../observer';
import type { Plan, PlannedNode } from '../plan-types';
import type { ResultStore } from './result-store';
import type { RunEnvironment } from './run-environment';
import type { RunWeights } from './run-weights';
import { elements, ValueReader } from './value-facts';

/** Which tensor a backward pass starts from. */
export interface LossChoice {
  readonly node: PlannedNode;
  readonly tensor: TensorRef;
}

interface Wanted<H> {
  readonly node: PlannedNode;
  readonly port: string;
  readonly handle: H;
}

/**
 * The backward pass after a run's forward pass: gradients of every floating output and of the weights of layer nodes, reported as ports
 * `<port>__grad` and `__weight_grad__<param>` of their nodes.
 */
export class GradientCapture {
  constructor(
    private readonly run: RunEnvironment,
    private readonly plan: Plan,
    private readonly weights: RunWeights,
  ) {}

  /**
   * Differentiates the sum of the chosen tensor and reports what came of it: the first BackwardOnce node's tensor; without one, and
   * without a training loop, the largest floating output that depends on anything (`auto`). Does nothing when there is none.
   */
  async backward(results: ResultStore, options: { readonly auto: boolean }): Promise<void> {
    const tensors = this.floatingOutputs(results);
    const candidates = this.candidates(tensors, options.auto);
    if (candidates.length === 0) return;
    const modules = this.modules(results);
    const scope = this.run.runtime.openScope({
      label: 'backward',
      recordGradients: true,
      signal: this.run.stop.signal,
    });
    try {
      for (const { tensor } of candidates) {
        const found = await this.differentiate(scope, tensor, tensors, modules);
        if (found.size === 0) continue;
        for (const [node, ports] of found) {
          this.run.reports.addendum({ ...atTopLevel(node, ports), status: 'completed' });
          await this.run.reports.drained();
        }
        return;
      }
      await scope.settle();
    } finally {
      scope.close();
    }
  }

  private candidates(tensors: readonly Wanted<TensorRef>[], auto: boolean): readonly LossChoice[] {
    const starts = (node: PlannedNode): boolean => this.run.registry.get(node.type)?.startsBackward === true;
    const marked = tensors.find(({ node }) => starts(node));
    if (marked) return [{ node: marked.node, tensor: marked.handle }];
    if (!auto || this.plan.nodes.some(({ type }) => type.endsWith('TrainingLoop'))) return [];
    // Sorting is stable: of two equally large ones the one that was computed first.
    const size = ({ handle }: Wanted<TensorRef>): number => elements(handle.shape);
    return [...tensors].sort((a, b) => size(b) - size(a)).map(({ node, handle }) => ({ node, tensor: handle }));
  }

  /** Gradients by node; empty when nothing but the tensor itself depends on it. */
  private async differentiate(
    scope: Scope,
    of: TensorRef,
    tensors: readonly Wanted<TensorRef>[],
    modules: readonly Wanted<ModuleRef>[],
  ): Promise<Map<PlannedNode, PortFacts[]>> {
    const distinct = [...new Set(tensors.map(({ handle }) => handle))];
    const gradients = await scope.backward(of, { tensors: distinct, modules: modules.map(({ handle }) => handle) });
    const byTensor = new Map(distinct.map((tensor, index) => [tensor, gradients.tensors[index] ?? null]));
    const depends =
      distinct.some((tensor) => tensor !== of && byTensor.get(tensor)) ||
      gradients.parameters.some((parameters) => Object.values(parameters).some((gradient) => gradient !== null));
    const found = new Map<PlannedNode, PortFacts[]>();
    if (!depends) return found;
    const add = async (node: PlannedNode, port: string, gradient: TensorRef | null | undefined): Promise<void> => {
      if (!gradient) return;
      const facts = await gradientFacts(scope, gradient);
      found.set(node, [...(found.get(node) ?? []), { port, ...facts }]);
      await this.run.recorder?.record(node.id, [{ facts: { port, ...facts }, value: gradient }], scope);
    };
    for (const { node, port, handle } of tensors) await add(node, `${port}__grad`, byTensor.get(handle));
    for (const [index, { node, handle }] of modules.entries()) {
      for (const [name, gradient] of Object.entries(gradients.parameters[index] ?? {})) {
        await add(node, `__weight_grad__${parameterName(handle, name)}`, gradient);
      }
    }
    return found;
  }

  private floatingOutputs(results: ResultStore): readonly Wanted<TensorRef>[] {
    return this.outputs(results).flatMap(({ node, port, value }) =>
      isTensor(value) && value.dtype.startsWith('float') ? [{ node, port, handle: value }] : [],
    );
  }

  private modules(results: ResultStore): readonly Wanted<ModuleRef>[] {
    const found = new Map<ModuleRef, Wanted<ModuleRef>>();
    for (const node of this.plan.nodes) {
      for (const module of this.weights.modulesOf(node)) found.set(module, { node, port: '', handle: module });
    }
    // Of nodes that pass one model on, the first is the one that made it.
    for (const { node, port, value } of this.outputs(results)) {
      if (isModel(value) && !found.has(value)) found.set(value, { node, port, handle: value });
    }
    return [...found.values()];
  }

  private outputs(results: ResultStore) {
    return this.plan.nodes.flatMap((node) =>
      Object.entries(results.outputsOf(node.id) ?? {}).map(([port, value]) => ({ node, port, value })),
    );
  }
}

/** A node in a container shows its gradients on the instance, with its path before the port. */
function atTopLevel({ origin }: PlannedNode, ports: readonly PortFacts[]): Pick<StatusReport, 'origin' | 'ports'> {
  const { nodeId, innerId } = origin;
  if (innerId === null) return { origin, ports };
  const named = ports.map((facts) => ({ ...facts, port: `${innerId}.${facts.port}` }));
  return { origin: { nodeId, innerId: null }, ports: named };
}

async function gradientFacts(scope: Scope, gradient: TensorRef): Promise<GradientFacts> {
  const reader = new ValueReader();
  const { kind: _tensor, ...tensor }: TensorFacts = await reader.tensor(scope, gradient);
  if (tensor.values) return { kind: 'gradient', ...tensor, health: healthOf(magnitudes(tensor.values)) };
  const { norm } = await scope.stats(gradient);
  const { mean, max } = await scope.stats(scope.op('abs', [gradient], {}));
  return { kind: 'gradient', ...tensor, health: healthOf({ norm, mean, max }) };
}

interface Magnitudes {
  readonly norm: number;
  readonly mean: number;
  readonly max: number;
}

function magnitudes(values: readonly number[]): Magnitudes | null {
  if (values.length === 0) return null;
  let [squares, sum, max] = [0, 0, 0];
  for (const value of values) {
    const size = Math.abs(value);
    squares += size * size;
    sum += size;
    max = Math.max(max, size);
  }
  return { norm: Math.sqrt(squares), mean: sum / values.length, max };
}

/** Vanishing below a norm of 1e-7 or a mean of 1e-8, exploding above a norm of 1e3 or a maximum of 1e2; sizes are absolute. */
export function healthOf(sizes: Magnitudes | null): GradientHealth {
  if (sizes === null) return { status: 'unknown', norm: null, mean: null, max: null };
  const { norm, mean, max } = sizes;
  // Not-a-number and infinity are what an explosion ends in.
  if (!(norm <= 1e3) || !(max <= 1e2)) return { status: 'exploding', norm, mean, max };
  if (norm < 1e-7 || mean < 1e-8) return { status: 'vanishing', norm, mean, max };
  return { status: 'healthy', norm, mean, max };
}

/** A module of one layer names its parameters as the layer does: `weight`, not `layer.weight`. */
function parameterName(module: ModuleRef, name: string): string {
  const [only, ...rest] = module.spec.nodes;
  return only && rest.length === 0 && name.startsWith(`${only.id}.`) ? name.slice(only.id.length + 1) : name;
}

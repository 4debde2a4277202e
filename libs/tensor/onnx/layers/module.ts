import { layerDef, RuntimeError, type LayerName, type ModuleNode, type ModuleSpec, type Source } from '../../runtime';
import type { EmitContext, EmittedModule } from '../compiler';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { fresh } from '../ops/elementwise';
import { emitOp } from '../ops/emit';
import type { LayerContext, LayerEmitter, LayerEmitters } from './emitters';
import { LINEAR_EMITTERS } from './linear';
import { NORM_EMITTERS } from './norm';
import { ACTIVATION_EMITTERS, MERGE_EMITTERS, PLAIN_EMITTERS } from './plain';
import { SPATIAL_EMITTERS } from './spatial';

const EMITTERS: LayerEmitters = {
  ...LINEAR_EMITTERS,
  ...SPATIAL_EMITTERS,
  ...NORM_EMITTERS,
  ...PLAIN_EMITTERS,
  ...ACTIVATION_EMITTERS,
  ...MERGE_EMITTERS,
};

type Values = Readonly<Record<string, Value>>;

/** Emits a module: its nodes in the order their inputs need, nested modules in place. */
export function emitModule(
  g: Graph,
  spec: ModuleSpec,
  inputs: Values,
  weights: Values,
  context: EmitContext,
): EmittedModule {
  const buffers: Record<string, Value> = {};
  const emitted = emitNodes(g, spec, inputs, { context, weights, buffers, prefix: '' });
  const given = Object.values(inputs);
  const outputs = Object.fromEntries(Object.entries(emitted).map(([port, value]) => [port, fresh(g, value, given)]));
  return { outputs, buffers };
}

interface Surroundings {
  readonly context: EmitContext;
  readonly weights: Values;
  /** Filled as layers replace theirs. */
  readonly buffers: Record<string, Value>;
  /** Of weight names: the ids of the enclosing nodes, each with a dot. */
  readonly prefix: string;
}

function emitNodes(g: Graph, spec: ModuleSpec, inputs: Values, around: Surroundings): Values {
  const nodes = new Map(spec.nodes.map((node) => [node.id, node]));
  const exposed = new Set(spec.outputs.flatMap(({ from }) => ('node' in from ? [from.node] : [])));
  const done = new Map<string, readonly Value[]>();
  const isPrivate = (source: Source) => 'node' in source && !exposed.has(source.node);
  const resolve = (source: Source): Value => {
    if ('input' in source) return found(inputs[source.input], `the module has no input '${source.input}'`);
    return found(
      done.get(source.node)?.[source.output ?? 0],
      `node '${source.node}' has no output ${source.output ?? 0}, or the module has a cycle through it`,
    );
  };
  for (const id of inOrder(spec, nodes)) {
    const node = nodes.get(id)!;
    done.set(id, emitNode(g, node, node.from.map(resolve), node.from.map(isPrivate), around));
  }
  return Object.fromEntries(spec.outputs.map(({ port, from }) => [port, resolve(from)]));
}

function found<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new RuntimeError('invalid_argument', message);
  return value;
}

/** Node ids, each after those it reads; a module lists its nodes in any order. */
function inOrder(spec: ModuleSpec, nodes: ReadonlyMap<string, ModuleNode>): readonly string[] {
  const order = new Set<string>();
  const entered = new Set<string>();
  const visit = (id: string) => {
    if (entered.has(id)) return;
    entered.add(id);
    for (const source of found(nodes.get(id), `the module has no node '${id}'`).from) {
      if ('node' in source) visit(source.node);
    }
    order.add(id);
  };
  for (const { id } of spec.nodes) visit(id);
  return [...order];
}

function emitNode(
  g: Graph,
  node: ModuleNode,
  inputs: readonly Value[],
  privates: readonly boolean[],
  around: Surroundings,
): readonly Value[] {
  const { context, weights, buffers, prefix } = around;
  if ('op' in node) return emitOp(g, node.op, inputs, node.attrs, context);
  const inner = `${prefix}${node.id}.`;
  if ('module' in node) {
    const ports = Object.fromEntries(node.module.inputs.map((port, i) => [port, inputs[i]!]));
    const outputs = emitNodes(g, node.module, ports, { ...around, prefix: inner });
    return node.module.outputs.map(({ port }) => outputs[port]!);
  }
  const emitter = (EMITTERS as Readonly<Record<string, LayerEmitter<LayerName>>>)[node.layer];
  if (!emitter) throw new RuntimeError('unsupported', `layer ${node.layer} is not available`, { op: node.layer });
  const layerContext: LayerContext = {
    ...context,
    uniform: (count) => context.uniform(count),
    weight: (name) => weights[inner + name] ?? null,
    required: (name) => found(weights[inner + name], `the module has no weight '${inner}${name}'`),
    update: (name, value) => {
      buffers[inner + name] = value;
    },
    isPrivate: (input) => privates[input] ?? false,
  };
  const params = layerDef(node.layer).normalise(node.params);
  const result = emitter(g, inputs as [Value, ...Value[]], params, layerContext);
  return Array.isArray(result) ? (result as readonly Value[]) : [result as Value];
}

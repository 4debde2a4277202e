import { RuntimeError } from './errors';
import { invalid } from './fields';
import type { ParamMeta } from './handles';
import type { LayerWeight } from './layer-def';
import { inLayer, layerDef } from './layers';
import { arityRange, checkArity, inferOp, OPS, opDef } from './ops';
import type { ModuleNode, ModuleSpec, OpTable, OpName, Source, TensorMeta } from './vocabulary';

/** A weight with its full name, `<node id>.<weight>`, nested modules `<node id>.<inner id>.<weight>`. */
export type NamedWeight = LayerWeight;

/** What the layer of a module of one layer is called. Nobody gave it that name, so no message says it. */
export const ONLY_LAYER = 'layer';

function sourceName(source: Source): string {
  return 'input' in source ? `input '${source.input}'` : `output ${source.output ?? 0} of node '${source.node}'`;
}

function describe(node: ModuleNode): string {
  return 'layer' in node
    ? node.id === ONLY_LAYER
      ? node.layer
      : `${node.layer} '${node.id}'`
    : 'op' in node
      ? `op ${node.op} '${node.id}'`
      : `module '${node.id}'`;
}

/** Runs `body`, naming the node in any error it throws. */
function inNode<T>(node: ModuleNode, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const op = error.op ?? ('layer' in node ? node.layer : 'op' in node ? node.op : 'module');
    const own = 'layer' in node ? `${node.layer}: ` : '';
    const message = error.message.startsWith(own) ? error.message.slice(own.length) : error.message;
    throw new RuntimeError(error.code, `${describe(node)}: ${message}`, { op });
  }
}

/** The nodes in an order in which every source comes first; throws on a cycle. */
export function moduleOrder(spec: ModuleSpec): readonly ModuleNode[] {
  const byId = new Map(spec.nodes.map((node) => [node.id, node]));
  const state = new Map<string, 'open' | 'done'>();
  const order: ModuleNode[] = [];
  for (const root of spec.nodes) {
    // An explicit stack, because a chain may be deeper than the call stack allows.
    const stack: { node: ModuleNode; next: number }[] = state.has(root.id) ? [] : [{ node: root, next: 0 }];
    if (stack.length) state.set(root.id, 'open');
    while (stack.length) {
      const top = stack[stack.length - 1]!;
      const source = top.node.from[top.next++];
      if (source === undefined) {
        state.set(top.node.id, 'done');
        order.push(top.node);
        stack.pop();
      } else if ('node' in source) {
        const node = byId.get(source.node);
        if (!node) throw invalid(`${describe(top.node)} takes ${sourceName(source)}, but there is no such node`);
        if (state.get(node.id) === 'open') {
          const ids = stack.map((entry) => entry.node.id);
          throw invalid(`the module has a cycle: ${[...ids.slice(ids.indexOf(node.id)), node.id].join(' -> ')}`);
        }
        if (!state.has(node.id)) {
          state.set(node.id, 'open');
          stack.push({ node, next: 0 });
        }
      }
    }
  }
  return order;
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at);
}

/**
 * Checks names, sources, arities and every layer's arguments, nested modules included.
 * @throws RuntimeError `invalid_argument` or `unsupported` naming the node
 */
export function validateModule(spec: ModuleSpec): void {
  if (spec.outputs.length === 0) throw invalid('a module needs at least one output');
  const lists = {
    input: spec.inputs,
    output: spec.outputs.map(({ port }) => port),
    node: spec.nodes.map(({ id }) => id),
  };
  for (const [kind, names] of Object.entries(lists)) {
    const twice = repeated(names);
    if (twice !== undefined) throw invalid(`the module has two ${kind}s named '${twice}'`);
  }
  const ids = new Set(lists.node);
  const check = (source: Source, who: string) => {
    const known = 'input' in source ? spec.inputs.includes(source.input) : ids.has(source.node);
    if (!known)
      throw invalid(`${who} takes ${sourceName(source)}, but there is no such ${'input' in source ? 'input' : 'node'}`);
  };
  for (const node of spec.nodes) {
    for (const source of node.from) check(source, describe(node));
    inNode(node, () => {
      if ('layer' in node) {
        const def = layerDef(node.layer);
        checkArity(def.arity, node.from.length, node.layer);
        def.normalise(node.params);
      } else if ('op' in node) checkArity(opDef(node.op).arity, node.from.length, node.op);
      else {
        checkArity(node.module.inputs.length, node.from.length, 'the module');
        validateModule(node.module);
      }
    });
  }
  for (const { port, from } of spec.outputs) check(from, `output '${port}'`);
  moduleOrder(spec);
}

/** Every parameter and buffer with its initialisation, in file order of the nodes, as in PyTorch's state dict. */
export function moduleWeights(spec: ModuleSpec): readonly NamedWeight[] {
  return spec.nodes.flatMap((node) => {
    const inner =
      'module' in node
        ? moduleWeights(node.module)
        : 'layer' in node
          ? inNode(node, () => {
              const def = layerDef(node.layer);
              return def.weights(def.normalise(node.params));
            })
          : [];
    return inner.map((weight) => ({ ...weight, name: `${node.id}.${weight.name}` }));
  });
}

/** `moduleWeights` without the initialisation. */
export function moduleParameters(spec: ModuleSpec): readonly ParamMeta[] {
  return moduleWeights(spec).map(({ name, shape, dtype, trainable }) => ({ name, shape, dtype, trainable }));
}

/** Whether a forward pass in this mode draws random numbers. */
export function moduleIsRandom(spec: ModuleSpec, mode: 'train' | 'eval'): boolean {
  return spec.nodes.some((node) => {
    if ('module' in node) return moduleIsRandom(node.module, mode);
    if ('op' in node) return OPS[node.op].random === true;
    if (mode === 'eval') return false;
    const { p, dropout } = node.params;
    return node.layer === 'Dropout' ? p !== 0 : node.layer === 'MultiHeadAttention' && !!dropout;
  });
}

/**
 * Shapes and dtypes of a module's outputs.
 * @param inputs exactly the module's input ports
 * @throws RuntimeError `shape_mismatch` or `invalid_argument` naming the node, in PyTorch's terms
 */
export function inferModule(
  spec: ModuleSpec,
  inputs: Readonly<Record<string, TensorMeta>>,
  mode: 'train' | 'eval',
): Readonly<Record<string, TensorMeta>> {
  checkPorts(spec.inputs, Object.keys(inputs));
  const done = new Map<string, readonly TensorMeta[]>();
  const resolve = (source: Source): TensorMeta => {
    if ('input' in source) {
      const meta = inputs[source.input];
      if (!meta) throw invalid(`there is no ${sourceName(source)}`);
      return meta;
    }
    const meta = done.get(source.node)?.[source.output ?? 0];
    if (!meta) throw invalid(`there is no ${sourceName(source)}`);
    return meta;
  };
  for (const node of moduleOrder(spec)) {
    done.set(
      node.id,
      inNode(node, () => inferNode(node, node.from.map(resolve), mode)),
    );
  }
  return Object.fromEntries(spec.outputs.map(({ port, from }) => [port, resolve(from)]));
}

function inferNode(node: ModuleNode, metas: readonly TensorMeta[], mode: 'train' | 'eval'): readonly TensorMeta[] {
  if ('op' in node) return inferOp(node.op, metas, (node.attrs ?? {}) as OpTable[OpName]).outputs;
  if ('layer' in node) {
    const def = layerDef(node.layer);
    checkArity(def.arity, metas.length, node.layer);
    return inLayer(node.layer, () => def.infer(metas, def.normalise(node.params), mode));
  }
  const { module } = node;
  const named = Object.fromEntries(module.inputs.map((port, at) => [port, metas[at]!]));
  const outputs = inferModule(module, named, mode);
  return module.outputs.map(({ port }) => outputs[port]!);
}

/** Exactly the ports of a module must be given. */
export function checkPorts(ports: readonly string[], given: readonly string[]): void {
  const missing = ports.filter((port) => !given.includes(port));
  const unknown = given.filter((port) => !ports.includes(port));
  if (missing.length || unknown.length) {
    const parts = [
      ...(missing.length ? [`missing: ${missing.join(', ')}`] : []),
      ...(unknown.length ? [`unknown: ${unknown.join(', ')}`] : []),
    ];
    throw invalid(`the module takes exactly the inputs ${ports.join(', ')}; ${parts.join('; ')}`);
  }
}

/** A module of one layer, with inputs `x`, `x2`, ... and outputs `y`, `y2`, ... */
export function singleLayer(
  layer: string,
  params: Readonly<Record<string, unknown>>,
  options: { readonly inputs?: readonly string[]; readonly outputs?: readonly string[]; readonly id?: string } = {},
): ModuleSpec {
  const [least] = arityRange(layerDef(layer).arity);
  const inputs = options.inputs ?? Array.from({ length: least }, (_, at) => (at ? `x${at + 1}` : 'x'));
  const id = options.id ?? ONLY_LAYER;
  return {
    inputs,
    outputs: (options.outputs ?? ['y']).map((port, output) => ({ port, from: { node: id, output } })),
    nodes: [{ id, layer, params, from: inputs.map((input) => ({ input })) }],
  };
}

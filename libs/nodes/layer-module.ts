import type { NodeContext } from '@cdui/node-sdk';
import type { ModuleRef, TensorRef } from '@cdui/tensor/runtime';
import { canonicalJson } from '@cdui/protocol';

/** A layer as PyTorch names it, its constructor arguments, and how many tensors go in and out. */
export interface LayerSpec {
  readonly layer: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** A module of one layer, with what went through it. */
export interface LayerRun {
  readonly module: ModuleRef;
  readonly outputs: Readonly<Record<string, TensorRef>>;
}

const NODE_ID = 'layer';

/**
 * Runs a layer in training mode on a node's inputs, as layer nodes do. The module is fresh (initialised from the scope's generator),
 * unless the canvas session keeps the one that this node built from the same structure before.
 */
export function runLayer(context: NodeContext, spec: LayerSpec, inputs: Readonly<Record<string, TensorRef>>): LayerRun {
  const module = layerModule(context, spec);
  return { module, outputs: context.scope.forward(module, inputs, { mode: 'train' }) };
}

function layerModule(context: NodeContext, spec: LayerSpec): ModuleRef {
  const structure = canonicalJson({ layer: spec.layer, params: spec.params });
  const kept = context.weights?.find(structure);
  if (kept) return kept;
  const module = context.scope.module({
    inputs: spec.inputs,
    outputs: spec.outputs.map((port, output) => ({ port, from: { node: NODE_ID, output } })),
    nodes: [{ id: NODE_ID, layer: spec.layer, params: spec.params, from: spec.inputs.map((input) => ({ input })) }],
  });
  context.weights?.keep(structure, module);
  return module;
}

/** The layer's weights by their name in PyTorch's state dict, for step traces. */
export function layerWeights(context: NodeContext, module: ModuleRef): Readonly<Record<string, TensorRef>> {
  const tensors = context.scope.tensorsOf(context.scope.snapshot(module));
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name.replace(`${NODE_ID}.`, ''), tensor]));
}

import type { NodeRegistry, NodeType, PresetRegistry } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';
import type { PresetDefinition } from '@cdui/protocol';

const any = () => ({});

const TYPES: readonly NodeType[] = [
  defineNode({ name: 'Start', category: 'Control', description: '', outputs: { trigger: 'TRIGGER' }, execute: any }),
  defineNode({
    name: 'Source',
    category: 'Data',
    description: 'A tensor out of nothing',
    outputs: { tensor: 'TENSOR' },
    params: { size: param.int(4, { min: 1, max: 64 }), scale: param.float(1, { min: 0 }) },
    execute: any,
  }),
  defineNode({
    name: 'Layer',
    category: 'CNN',
    description: 'Tensor in, tensor out',
    inputs: { tensor: 'TENSOR' },
    outputs: { tensor: 'TENSOR' },
    params: {
      kind: param.select('relu', ['relu', 'tanh']),
      width: param.int(8, { min: 1, max: 1024 }),
      seed: param.int(null),
    },
    execute: any,
  }),
  defineNode({
    name: 'Join',
    category: 'Tensor Operations',
    description: 'Two tensors in, one out; the second is optional',
    inputs: { a: 'TENSOR', b: 'TENSOR?' },
    outputs: { tensor: 'TENSOR' },
    execute: any,
  }),
  defineNode({
    name: 'Split',
    category: 'Tensor Operations',
    description: 'As many outputs as the param says',
    inputs: { tensor: 'TENSOR' },
    outputs: { chunk_0: 'TENSOR', chunk_1: 'TENSOR' },
    params: { chunks: param.int(2, { min: 1, max: 32 }) },
    outputsFor: ({ chunks }) =>
      Object.fromEntries(
        Array.from(
          { length: typeof chunks === 'number' ? Math.min(chunks, 32) : 2 },
          (_, i) => [`chunk_${i}`, 'TENSOR'] as const,
        ),
      ),
    execute: any,
  }),
  defineNode({
    name: 'Train',
    category: 'Training',
    description: 'Several types in and out',
    inputs: { model: 'MODEL', data: 'DATASET', extra: 'ANY?' },
    outputs: { model: 'MODEL', losses: 'TENSOR' },
    params: { epochs: param.int(1, { min: 1 }) },
    execute: any,
  }),
  defineNode({ name: 'Model', category: 'CNN', description: '', outputs: { model: 'MODEL' }, execute: any }),
  defineNode({ name: 'Rows', category: 'Data', description: '', outputs: { data: 'DATASET' }, execute: any }),
  defineNode({
    name: 'Picture',
    category: 'Data',
    description: '',
    inputs: { image: 'IMAGE?' },
    outputs: { image: 'IMAGE' },
    execute: any,
  }),
  defineNode({
    name: 'Chat',
    category: 'Utility',
    description: 'Has a secret',
    inputs: { prompt: 'ANY?' },
    outputs: { text: 'STRING' },
    params: { key: param.secret(), model: param.text('small') },
    execute: any,
  }),
  defineNode({
    name: 'Print',
    category: 'Utility',
    description: '',
    inputs: { value: 'ANY' },
    outputs: { value: 'ANY' },
    execute: any,
  }),
  defineNode({
    name: 'Picky',
    category: 'Utility',
    description: 'Has rules of its own',
    params: { word: param.text('good') },
    check: ({ word }, nodeId) => {
      if (word === 'throw') throw new Error('the check broke');
      return word === 'good'
        ? []
        : [{ message: 'The word is not good', code: 'invalid_param', node_id: nodeId, params: { param: 'word' } }];
    },
    execute: any,
  }),
  defineNode({
    name: 'GraphInput',
    category: 'IO',
    description: '',
    outputs: { value: 'ANY' },
    params: {
      name: param.text('input'),
      type: param.select('string', ['string', 'number', 'integer', 'boolean', 'json', 'image']),
      required: param.bool(true),
      default: param.text(''),
      description: param.text(''),
    },
    execute: any,
  }),
  defineNode({
    name: 'GraphOutput',
    category: 'IO',
    description: '',
    inputs: { value: 'ANY' },
    params: { name: param.text('output'), description: param.text('') },
    execute: any,
  }),
];

/** A registry with one type per kind of rule, and one reserved name. */
export function sampleRegistry(extra: readonly NodeType[] = []): NodeRegistry {
  const byName = new Map([...TYPES, ...extra].map((type) => [type.definition.node_name, type]));
  return {
    get: (type) => byName.get(type),
    names: () => [...byName.keys()],
    isReserved: (type) => type === 'Later',
  };
}

const twoLayers: PresetDefinition = {
  preset_name: 'Two Layers',
  nodes: [
    { id: 'first', type: 'Layer', params: { width: 16 } },
    { id: 'second', type: 'Layer' },
  ],
  edges: [{ source: 'first', sourceHandle: 'tensor', target: 'second', targetHandle: 'tensor' }],
  exposed_inputs: [{ name: 'tensor', internal_node: 'first', internal_port: 'tensor' }],
  exposed_outputs: [{ name: 'tensor', internal_node: 'second', internal_port: 'tensor' }],
  exposed_params: [{ internal_node: 'first', param_name: 'width' }],
};

const pipeline: PresetDefinition = {
  preset_name: 'Pipeline',
  nodes: [
    { id: 'rows', type: 'Rows' },
    { id: 'train', type: 'Train', params: { epochs: 5 } },
  ],
  edges: [{ source: 'rows', sourceHandle: 'data', target: 'train', targetHandle: 'data' }],
  exposed_inputs: [{ name: 'model', internal_node: 'train', internal_port: 'model' }],
  exposed_outputs: [
    { name: 'model', internal_node: 'train', internal_port: 'model' },
    { name: 'losses', internal_node: 'train', internal_port: 'losses' },
  ],
  exposed_params: [{ internal_node: 'train', param_name: 'epochs' }],
};

/** Installed presets: `Two Layers`, `Pipeline`, and those given (which win). */
export function samplePresets(extra: readonly PresetDefinition[] = []): PresetRegistry {
  const byName = new Map([twoLayers, pipeline, ...extra].map((preset) => [preset.preset_name, preset]));
  return { get: (name) => byName.get(name), names: () => [...byName.keys()] };
}

import { defineNode, param } from '@cdui/node-sdk';
import { canonicalJson } from '@cdui/protocol';
import { checkSequential, sequentialToModule } from '@cdui/tensor/runtime/sequential';
import { parameterCount } from './plan';

/** Builds a network from the description of its layers. */
export const sequentialModelNode = defineNode({
  name: 'SequentialModel',
  category: 'Training',
  description: 'Builds a network from layers that are joined in the layer editor.',
  outputs: { model: 'MODEL' },
  params: {
    layers: param.text(null, { description: 'The layers and how they are joined, as JSON' }),
  },
  cacheable: false,
  check(params, nodeId) {
    const { layers } = params;
    if (layers === null || layers === undefined) return [];
    return checkSequential(layers).map(({ code, message, path, params: details }) => ({
      message: `param "layers"${path ? `, ${path}` : ''}: ${message}`,
      code: 'invalid_layers',
      node_id: nodeId,
      params: { ...details, reason: code, path },
    }));
  },
  execute(context, _inputs, params) {
    const layers = params.raw('layers');
    if (layers === null || layers === undefined)
      return params.reject('layers', 'must describe the layers of the model');
    const spec = sequentialToModule(layers);
    const structure = canonicalJson({ sequential: spec });
    const kept = context.weights?.find(structure);
    const model = kept ?? context.scope.module(spec);
    if (!kept) context.weights?.keep(structure, model);
    const count = parameterCount(model).toLocaleString('en-US');
    context.log(kept ? `${count} parameters, with the weights of the run before` : `${count} parameters`);
    return { model };
  },
});

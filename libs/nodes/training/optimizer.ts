import { defineNode, param } from '@cdui/node-sdk';
import type { OptimizerSpec } from '@cdui/tensor/runtime';

type Type = 'Adam' | 'SGD' | 'AdamW';
const TYPES: readonly Type[] = ['Adam', 'SGD', 'AdamW'];
const ADAMS: readonly Type[] = ['Adam', 'AdamW'];

/** PyTorch's optimizers over all parameters of a model. */
export const optimizerNode = defineNode({
  name: 'Optimizer',
  category: 'Training',
  description: 'Chooses how the weights of a model follow their gradients.',
  inputs: { model: 'MODEL' },
  outputs: { optimizer: 'OPTIMIZER' },
  params: {
    type: param.select('Adam', TYPES, { description: 'Which rule' }),
    lr: param.float(0.001, { min: 0, description: 'Learning rate' }),
    weight_decay: param.float(0, { min: 0, description: 'Pull of the weights towards zero' }),
    momentum: param.float(0, {
      description: 'Share of the last step that is kept',
      visibleWhen: { type: 'SGD' },
      advanced: true,
    }),
    betas: param.text('0.9, 0.999', {
      description: 'Decay of the running mean and of the running square',
      visibleWhen: { type: ADAMS },
      advanced: true,
    }),
    eps: param.float(1e-8, {
      description: 'Keeps the division away from zero',
      visibleWhen: { type: ADAMS },
      advanced: true,
    }),
    amsgrad: param.bool(false, {
      description: 'Divide by the largest running square',
      visibleWhen: { type: ADAMS },
      advanced: true,
    }),
    nesterov: param.bool(false, {
      description: 'Look ahead along the momentum',
      visibleWhen: { type: 'SGD' },
      advanced: true,
    }),
    dampening: param.float(0, {
      description: 'Share of the gradient that momentum leaves out',
      visibleWhen: { type: 'SGD' },
      advanced: true,
    }),
  },
  cacheable: false,
  execute(context, inputs, params) {
    const model = inputs.model('model');
    const type = params.choice<Type>('type');
    const applies = (name: string, isDefault: boolean, types: readonly Type[]): boolean => {
      if (isDefault) return false;
      if (!types.includes(type)) params.reject(name, `applies to ${types.join(' and ')} only: leave it at its default`);
      return true;
    };
    const betas = params.floats('betas');
    if (betas.length !== 2 || betas.some((beta) => beta < 0 || beta >= 1)) {
      params.reject('betas', 'must be two numbers from 0 to below 1, separated by a comma');
    }
    const [beta1, beta2] = betas as [number, number];
    const momentum = params.float('momentum');
    const dampening = params.float('dampening');
    const nesterov = params.bool('nesterov');
    if (momentum < 0) params.reject('momentum', 'must be at least 0');
    if (nesterov && (momentum === 0 || dampening !== 0))
      params.reject('nesterov', 'needs a momentum above 0 and a dampening of 0');
    const spec: OptimizerSpec = {
      type,
      lr: params.float('lr'),
      weightDecay: params.float('weight_decay'),
      ...(applies('momentum', momentum === 0, ['SGD']) && { momentum }),
      ...(applies('dampening', dampening === 0, ['SGD']) && { dampening }),
      ...(applies('nesterov', !nesterov, ['SGD']) && { nesterov }),
      ...(applies('betas', beta1 === 0.9 && beta2 === 0.999, ADAMS) && { betas: [beta1, beta2] as const }),
      ...(applies('eps', params.float('eps') === 1e-8, ADAMS) && { eps: params.float('eps') }),
      ...(applies('amsgrad', !params.bool('amsgrad'), ADAMS) && { amsgrad: true }),
    };
    if (spec.lr === 0) {
      context.warn({
        kind: 'zero_learning_rate',
        code: 'zero_learning_rate',
        detail: `${context.nodeId}: the learning rate lr is 0, so training changes nothing: choose one above 0, 0.001 for instance`,
        params: { node_id: context.nodeId, param: 'lr', value: 0 },
      });
    }
    return { optimizer: context.scope.optimizer(model, spec) };
  },
});

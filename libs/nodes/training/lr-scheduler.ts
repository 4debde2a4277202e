import { defineNode, param } from '@cdui/node-sdk';
import { SCHEDULE_TYPES, Schedule, type ScheduleType } from './schedules';

/** A schedule of the learning rate, as plain numbers; the training loop binds it to its optimizer. */
export const lrSchedulerNode = defineNode({
  name: 'LRScheduler',
  category: 'Training',
  description: 'Changes the learning rate while a model trains.',
  inputs: { optimizer: 'OPTIMIZER' },
  outputs: { scheduler: ['ANY', 'For lr_scheduler of a TrainingLoop'] },
  params: {
    type: param.select('StepLR', SCHEDULE_TYPES, { description: 'Which course the rate takes' }),
    step_size: param.int(10, { description: 'Steps between two changes', visibleWhen: { type: 'StepLR' } }),
    gamma: param.float(0.1, { description: 'Factor of a change', visibleWhen: { type: 'StepLR' } }),
    T_max: param.int(50, {
      description: 'Steps from the top of the cosine to its bottom',
      visibleWhen: { type: 'CosineAnnealingLR' },
    }),
  },
  cacheable: false,
  execute(_context, inputs, params) {
    const type = params.choice<ScheduleType>('type');
    const numbers: Readonly<Record<string, number>> =
      type === 'StepLR'
        ? { step_size: params.int('step_size'), gamma: params.float('gamma') }
        : { T_max: params.int('T_max') };
    // Building one checks the numbers here, in the node that has them.
    const { spec } = new Schedule({ type, params: numbers }, inputs.optimizer('optimizer').spec.lr);
    return { scheduler: { kind: 'scheduler', ...spec } };
  },
});

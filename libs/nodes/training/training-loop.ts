import {
  defineNode,
  interrupted,
  param,
  type InputReader,
  type NodeContext,
  type NodeType,
  type ParamReader,
} from '@cdui/node-sdk';
import type { OptimizerRef, TensorRef } from '@cdui/tensor/runtime';
import { checkPlan, type Monitor, type TrainingPlan } from './plan';
import type { MonotonicClock } from './progress';
import { deviceOf, deviceParam, precisionOf, precisionParam } from './run-options';
import { Schedule } from './schedules';
import { TrainingRun } from './train';

/** The TrainingLoop node type; `clock` paces its progress frames. */
export function trainingLoopNode(clock: MonotonicClock = () => performance.now()): NodeType {
  return defineNode({
    name: 'TrainingLoop',
    category: 'Training',
    description: 'Trains a model for a number of epochs.',
    inputs: {
      model: 'MODEL',
      dataloader: 'DATALOADER',
      optimizer: 'OPTIMIZER',
      loss_fn: 'LOSS_FN',
      val_dataloader: ['DATALOADER?', 'Measured after every epoch'],
      lr_scheduler: ['ANY?', 'The output of an LRScheduler'],
      start_epoch: ['SCALAR?', 'Epochs done before, as a CheckpointLoader gives them'],
    },
    outputs: {
      model: 'MODEL',
      losses: ['TENSOR', 'Mean training loss of each epoch'],
      val_losses: ['TENSOR', 'Mean validation loss of each epoch; empty without validation'],
      metrics: ['ANY', 'What came of it, in numbers'],
      optimizer: ['OPTIMIZER', 'With its state after the last step'],
    },
    params: {
      epochs: param.int(5, { min: 1, description: 'The last epoch, counted from the very first one' }),
      device: deviceParam,
      early_stopping_patience: param.int(0, {
        min: 0,
        description: 'Epochs without improvement before it stops; 0 never stops',
      }),
      grad_clip_norm: param.float(0, {
        min: 0,
        description: 'Largest norm of all gradients together; 0 does not clip',
      }),
      monitor: param.select('val_loss', ['val_loss', 'val_accuracy'], {
        description: 'What early stopping watches',
        advanced: true,
      }),
      batch_metrics: param.bool(false, { description: 'Record the loss of single batches', advanced: true }),
      log_interval: param.int(1, {
        min: 1,
        description: 'Batches between two records of single batches',
        advanced: true,
      }),
      log_grad_norm: param.bool(false, { description: 'Record the norm of the gradients', advanced: true }),
      log_update_ratio: param.bool(false, {
        description: 'Record how much a step changes the weights',
        advanced: true,
      }),
      deterministic: param.bool(false, {
        description: 'Fixed number of threads: equal runs give equal numbers',
        advanced: true,
      }),
      precision: precisionParam,
      accumulate_steps: param.int(1, { min: 1, description: 'Batches per optimizer step', advanced: true }),
      max_steps: param.int(0, {
        description: 'Optimizer steps after which it ends; 0 is no limit',
        advanced: true,
      }),
      scheduler_step: param.select('epoch', ['epoch', 'optimizer_step'], {
        description: 'When the learning rate changes',
        advanced: true,
      }),
      val_every_steps: param.int(0, {
        description: 'Optimizer steps between validations within an epoch; 0 makes none',
        advanced: true,
      }),
      checkpoint_every: param.int(0, {
        description: 'Epochs between checkpoints; 0 writes none',
        advanced: true,
      }),
      checkpoint_every_steps: param.int(0, {
        description: 'Optimizer steps between checkpoints; 0 writes none',
        advanced: true,
      }),
    },
    cacheable: false,
    needs: { writesFiles: true },
    check(params, nodeId) {
      if (params['tensorboard'] !== true) return [];
      const message = 'param "tensorboard" is not available: leave it off, the metric series hold the same numbers';
      return [
        { message, code: 'option_not_available', node_id: nodeId, params: { param: 'tensorboard', value: true } },
      ];
    },
    async execute(context, inputs, params) {
      const plan = planOf(context, inputs, params);
      checkPlan(plan);
      const training = new TrainingRun(context, plan, clock);
      await training.run();
      const outputs = outputsOf(context, plan, training);
      const { stop } = training;
      if (!stop) return outputs;
      const { epoch, batch, phase, checkpointPath } = stop;
      return interrupted(outputs, { epoch, batch, checkpoint_path: checkpointPath, phase });
    },
  });
}

function planOf(context: NodeContext, inputs: InputReader, params: ParamReader): TrainingPlan {
  const loader = inputs.dataLoader('dataloader');
  const startEpoch = startEpochOf(inputs);
  const accumulateSteps = params.int('accumulate_steps');
  const scheduleStep = params.choice<TrainingPlan['scheduleStep']>('scheduler_step');
  const optimizer = bind(context, inputs);
  const precision = precisionOf(context, params);
  if (params.raw('strategy') === 'ddp') {
    context.warn({
      kind: 'strategy_fallback',
      code: 'strategy_fallback',
      detail: `${context.nodeId}: strategy ddp needs a worker with several cards, it trains in one process`,
      params: { node_id: context.nodeId },
    });
  }
  return {
    model: inputs.model('model'),
    optimizer,
    loss: inputs.loss('loss_fn').spec,
    loader,
    validation: inputs.optionalDataLoader('val_dataloader'),
    schedule: scheduleOf(inputs, optimizer, stepsBefore(startEpoch, scheduleStep, loader.length, accumulateSteps)),
    scheduleStep,
    startEpoch,
    epochs: params.int('epochs'),
    maxSteps: params.int('max_steps'),
    accumulateSteps,
    gradClipNorm: params.float('grad_clip_norm'),
    patience: params.int('early_stopping_patience'),
    monitor: params.choice<Monitor>('monitor'),
    precision: precision.used,
    precisionRequested: precision.requested,
    device: deviceOf(context, params),
    batchMetrics: params.bool('batch_metrics'),
    logInterval: params.int('log_interval'),
    logGradNorm: params.bool('log_grad_norm'),
    logUpdateRatio: params.bool('log_update_ratio'),
    deterministic: params.bool('deterministic'),
    checkpointEvery: params.int('checkpoint_every'),
    checkpointEverySteps: params.int('checkpoint_every_steps'),
    valEverySteps: params.int('val_every_steps'),
  };
}

function startEpochOf(inputs: InputReader): number {
  const epoch = inputs.optionalNumber('start_epoch') ?? 0;
  return Number.isSafeInteger(epoch) && epoch >= 0
    ? epoch
    : inputs.reject('start_epoch', 'a whole number of at least 0');
}

/** The optimizer over exactly this model's parameters; how much of its state it keeps is said in the log. */
function bind(context: NodeContext, inputs: InputReader): OptimizerRef {
  const { optimizer, how } = context.scope.bindOptimizer(inputs.optimizer('optimizer'), inputs.model('model'));
  if (how === 'rebound') context.log('Optimizer rebound: its state moved to the parameters of this model');
  if (how === 'rebuilt') {
    context.log('Optimizer rebuilt: it was made for other parameters than those of this model, so its state is lost');
  }
  return optimizer;
}

/** How often the schedule had stepped when that many epochs were done. */
function stepsBefore(epochs: number, when: TrainingPlan['scheduleStep'], batches: number, accumulate: number): number {
  return when === 'epoch' ? epochs : epochs * Math.ceil(batches / accumulate);
}

function scheduleOf(inputs: InputReader, optimizer: OptimizerRef, replayed: number): Schedule | null {
  const value = inputs.optionalScheduler('lr_scheduler');
  if (!value) return null;
  const schedule = new Schedule(value, optimizer.spec.lr);
  for (let step = 0; step < replayed; step++) schedule.step();
  return schedule;
}

function outputsOf(context: NodeContext, plan: TrainingPlan, training: TrainingRun) {
  const { history, stop } = training;
  return {
    model: plan.model,
    losses: column(context, history.losses),
    val_losses: column(context, history.valLosses),
    optimizer: plan.optimizer,
    metrics: {
      final_train_loss: history.losses.at(-1) ?? null,
      final_val_loss: history.valLosses.at(-1) ?? null,
      best_epoch: training.bestEpoch,
      total_epochs_run: history.losses.length,
      stopped_early: training.stoppedEarly,
      lr_history: [...history.rates],
      start_epoch: plan.startEpoch,
      last_epoch: training.lastEpoch,
      interrupted: stop !== null,
      total_steps: training.steps,
      total_batches: training.batches,
      stopped_at_max_steps: training.stoppedAtMaxSteps,
      accumulate_steps: plan.accumulateSteps,
      precision: plan.precision,
      ...(plan.precision !== plan.precisionRequested && { precision_requested: plan.precisionRequested }),
      ...(stop?.checkpointPath && { interrupt_checkpoint: stop.checkpointPath }),
    },
  };
}

function column(context: NodeContext, values: readonly number[]): TensorRef {
  return context.scope.upload({ shape: [values.length], dtype: 'float32', data: Float32Array.from(values) });
}

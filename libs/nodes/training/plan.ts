import { CodedError } from '@cdui/protocol';
import type { DataLoaderValue } from '@cdui/node-sdk';
import type { LossSpec, ModuleRef, OptimizerRef, Precision } from '@cdui/tensor/runtime';
import { isClassification } from './feed';
import { LOSS_SUFFIX } from './loss';
import type { Schedule } from './schedules';

export type Monitor = 'val_loss' | 'val_accuracy';

/** Everything a training run is told; the optimizer is bound to the model already. */
export interface TrainingPlan {
  readonly model: ModuleRef;
  readonly optimizer: OptimizerRef;
  readonly loss: LossSpec;
  readonly loader: DataLoaderValue;
  readonly validation: DataLoaderValue | null;
  readonly schedule: Schedule | null;
  readonly scheduleStep: 'epoch' | 'optimizer_step';
  /** Completed epochs before this run. */
  readonly startEpoch: number;
  /** The last epoch, counted from the very first one. */
  readonly epochs: number;
  /** Optimizer steps after which it ends; 0 is no limit. */
  readonly maxSteps: number;
  /** Batches per optimizer step. */
  readonly accumulateSteps: number;
  /** Largest norm of all gradients together; 0 does not clip. */
  readonly gradClipNorm: number;
  readonly patience: number;
  readonly monitor: Monitor;
  readonly precision: Precision;
  readonly precisionRequested: Precision;
  readonly device: string;
  readonly batchMetrics: boolean;
  readonly logInterval: number;
  readonly logGradNorm: boolean;
  readonly logUpdateRatio: boolean;
  readonly deterministic: boolean;
  /** Epochs, optimizer steps between periodic checkpoints; 0 writes none. */
  readonly checkpointEvery: number;
  readonly checkpointEverySteps: number;
  /** Optimizer steps between validations within an epoch; 0 makes none. */
  readonly valEverySteps: number;
}

/** @throws CodedError `invalid_param`, `missing_input` when options and inputs do not go together */
export function checkPlan(plan: TrainingPlan): void {
  const refuse = (code: string, message: string, params: Readonly<Record<string, unknown>>): never => {
    throw new CodedError(code, message, params);
  };
  if (plan.loader.length === 0) {
    refuse('missing_input', `the data loader has no batches (${plan.loader.dataset.length} rows)`, {
      port: 'dataloader',
    });
  }
  if (plan.validation?.length === 0) {
    refuse('missing_input', 'the validation loader has no batches', { port: 'val_dataloader' });
  }
  for (const [port, loader] of [['dataloader', plan.loader] as const, ['val_dataloader', plan.validation] as const]) {
    if (!loader || loader.dataset.fields.length > 1) continue;
    refuse(
      'missing_input',
      `the data set ${loader.dataset.name} of "${port}" has no targets, and ${plan.loss.type}${LOSS_SUFFIX} needs some: connect labels or targets where the data set is made`,
      { port },
    );
  }
  if (plan.loss.reduction === 'none') {
    refuse('invalid_param', 'a loss with the reduction none is not one number: choose mean or sum', {
      param: 'reduction',
    });
  }
  if (plan.monitor === 'val_accuracy' && plan.patience > 0 && !(plan.validation && isClassification(plan.loss))) {
    refuse('invalid_param', 'monitor val_accuracy needs a val_dataloader and a CrossEntropyLoss', {
      param: 'monitor',
    });
  }
}

/** The `config` frame: what is about to be trained, and how. */
export function configOf(plan: TrainingPlan, lr: number): Readonly<Record<string, unknown>> {
  const parameters = parameterCount(plan.model);
  return {
    model_class: 'Module',
    params: parameters,
    trainable: parameters,
    optimizer: plan.optimizer.spec.type,
    lr,
    loss_fn: `${plan.loss.type}${LOSS_SUFFIX}`,
    epochs: plan.epochs,
    device: plan.device,
    batch_size: plan.loader.batchSize,
    early_stopping: plan.patience > 0,
    patience: plan.patience,
    grad_clip_norm: plan.gradClipNorm > 0 ? plan.gradClipNorm : 'disabled',
    has_validation: plan.validation !== null,
    has_lr_scheduler: plan.schedule !== null,
    start_epoch: plan.startEpoch,
    precision: plan.precision,
    precision_requested: plan.precisionRequested,
    accumulate_steps: plan.accumulateSteps,
    effective_batch_size: plan.loader.batchSize * plan.accumulateSteps,
  };
}

/** Numbers that training changes; running statistics are none. */
export function parameterCount(model: ModuleRef): number {
  return model.parameters
    .filter(({ trainable }) => trainable)
    .reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
}

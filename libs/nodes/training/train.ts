import { join } from 'node:path';
import type { NodeContext } from '@cdui/node-sdk';
import { RuntimeError } from '@cdui/tensor/runtime';
import type { Evaluator, StateRef, StepColumns, Trainer } from '@cdui/tensor/runtime';
import { writeCheckpoint } from '../model-io/checkpoint';
import { fileNamePart, SAFETENSORS } from '../model-io/paths';
import { EarlyStopping } from './early-stopping';
import { feedFor, isClassification } from './feed';
import { History } from './history';
import { configOf, type TrainingPlan } from './plan';
import { type MonotonicClock, ProgressReporter, rounded } from './progress';

/** Where a run was stopped: completed epochs, and batches done in the unfinished one. */
export interface Stop {
  readonly epoch: number;
  readonly batch: number;
  readonly phase: 'train' | 'validation';
  readonly checkpointPath: string | null;
}

type Verdict = 'finished' | 'stopped' | 'step_limit';
interface Evaluation {
  readonly loss: number;
  readonly accuracy: number | null;
}

/**
 * Trains a model: epochs, validation, schedule, early stopping, checkpoints, reports. It is the same for every runtime, which
 * only knows steps. Steps are issued without waiting for their results; losses come back in columns, at the end of an
 * epoch and when a progress frame is due.
 */
export class TrainingRun {
  readonly history = new History();
  stop: Stop | null = null;
  stoppedEarly = false;
  stoppedAtMaxSteps = false;
  lastEpoch: number;
  steps = 0;
  batches = 0;

  private readonly trainer: Trainer;
  private readonly evaluator: Evaluator | null;
  private readonly progress: ProgressReporter;
  private readonly stopping: EarlyStopping;
  private best: StateRef | null = null;
  private lr: number;
  private diverged = false;

  constructor(
    private readonly context: NodeContext,
    private readonly plan: TrainingPlan,
    clock: MonotonicClock,
  ) {
    const { model, optimizer, loss, precision, validation, schedule } = plan;
    const { scope, signal } = context;
    this.lastEpoch = plan.startEpoch;
    this.lr = schedule?.lr ?? optimizer.spec.lr;
    this.progress = new ProgressReporter(context, clock);
    this.stopping = new EarlyStopping(plan.patience, this.monitorsAccuracy ? 'larger' : 'smaller');
    this.trainer = scope.trainer({
      module: model,
      optimizer,
      loss,
      feed: feedFor(model, plan.loader.dataset),
      precision,
      signal,
      ...(plan.gradClipNorm > 0 && { clipGradNorm: plan.gradClipNorm }),
      deterministic: plan.deterministic || context.deterministic,
      observe: { gradNorm: plan.logGradNorm, updateRatio: plan.logUpdateRatio },
    });
    this.evaluator = validation
      ? scope.evaluator({
          module: model,
          feed: feedFor(model, validation.dataset),
          precision,
          loss,
          accuracy: isClassification(loss),
          signal,
        })
      : null;
  }

  get bestEpoch(): number {
    return this.stopping.bestEpoch;
  }

  /** Trains to the end, or until it is stopped: then `stop` says where. */
  async run(): Promise<void> {
    try {
      this.progress.config(configOf(this.plan, this.lr));
      this.trainer.setHyper({ lr: this.lr });
      for (let epoch = this.plan.startEpoch + 1; epoch <= this.plan.epochs; epoch++) {
        const verdict = await this.trainEpoch(epoch);
        if (verdict === 'stopped' || !(await this.endEpoch(epoch))) break;
        if (this.stopping.exhausted) {
          this.stoppedEarly = true;
          break;
        }
        if (verdict === 'step_limit') {
          this.stoppedAtMaxSteps = true;
          break;
        }
      }
      if (this.best && !this.stop) await this.context.scope.restore(this.plan.model, this.best, { strict: true });
    } finally {
      this.trainer.close();
      this.evaluator?.close();
    }
  }

  private get monitorsAccuracy(): boolean {
    return this.plan.monitor === 'val_accuracy';
  }

  private async trainEpoch(epoch: number): Promise<Verdict> {
    const { loader, accumulateSteps, maxSteps, valEverySteps, checkpointEverySteps } = this.plan;
    this.history.beginEpoch();
    let batch = 0;
    for (const rows of loader.epoch()) {
      const last = batch + 1 === loader.length;
      const apply = last || (batch + 1) % accumulateSteps === 0;
      const accepted = await this.unlessStopped(() =>
        this.trainer.step(loader.dataset.batch(rows), { apply, scale: 1 / accumulateSteps }),
      );
      if (!accepted) {
        this.trainer.discard();
        await this.interrupt(epoch - 1, batch, 'train');
        return 'stopped';
      }
      batch++;
      this.batches++;
      if (apply) this.applied();
      if (this.progress.due()) {
        await this.collect();
        this.progress.batch({
          epoch,
          batch,
          total_batches: loader.length,
          loss: this.history.lastBatchLoss,
          phase: 'train',
        });
      }
      await this.context.drained();
      if (apply && isMultiple(this.steps, valEverySteps) && this.evaluator) {
        const found = await this.validate(epoch);
        if (!found) {
          await this.interrupt(epoch - 1, batch, 'validation');
          return 'stopped';
        }
        this.context.metric('val_loss_step', found.loss, this.steps);
      }
      if (apply && isMultiple(this.steps, checkpointEverySteps)) await this.periodicCheckpoint(epoch - 1, batch);
      if (apply && maxSteps > 0 && this.steps >= maxSteps) {
        await this.collect();
        return 'step_limit';
      }
    }
    await this.collect();
    return 'finished';
  }

  /** Counts an optimizer step and moves the schedule when it follows steps. */
  private applied(): void {
    this.steps++;
    if (this.plan.schedule && this.plan.scheduleStep === 'optimizer_step') this.setRate(this.plan.schedule.step());
  }

  private setRate(lr: number): void {
    this.lr = lr;
    this.trainer.setHyper({ lr });
  }

  /** Validation, schedule, early stopping and reports after an epoch. False when it was stopped on the way. */
  private async endEpoch(epoch: number): Promise<boolean> {
    const { context, history, plan } = this;
    const trainLoss = history.epochLoss();
    let found: Evaluation | null = null;
    if (this.evaluator) {
      found = await this.validate(epoch);
      if (!found) {
        await this.interrupt(epoch - 1, plan.loader.length, 'validation');
        return false;
      }
    }
    this.lastEpoch = epoch;
    if (!Number.isFinite(trainLoss)) this.warnDiverged(epoch, trainLoss);
    const { lr } = this;
    history.endEpoch(trainLoss, found?.loss ?? null, lr);
    context.metric('train_loss', trainLoss, epoch);
    context.metric('lr', lr, epoch);
    if (found) context.metric('val_loss', found.loss, epoch);
    if (found && found.accuracy !== null) context.metric('val_accuracy', found.accuracy, epoch);
    if (plan.schedule && plan.scheduleStep === 'epoch') this.setRate(plan.schedule.step());
    this.watch(epoch, this.monitorsAccuracy ? (found?.accuracy ?? NaN) : (found?.loss ?? trainLoss));
    this.reportEpoch(epoch, trainLoss, found, lr);
    if (isMultiple(epoch, plan.checkpointEvery)) await this.periodicCheckpoint(epoch, 0);
    return true;
  }

  /** Once a run: from there on every loss is like that. */
  private warnDiverged(epoch: number, loss: number): void {
    if (this.diverged) return;
    this.diverged = true;
    const { nodeId } = this.context;
    this.context.warn({
      kind: 'training_diverged',
      code: 'training_diverged',
      detail: `${nodeId}: the training loss of epoch ${epoch} is ${loss}: choose a smaller learning rate (now ${this.lr}), set grad_clip_norm, or look for missing values in the data`,
      params: { node_id: nodeId, epoch, lr: this.lr },
    });
  }

  private watch(epoch: number, value: number): void {
    const improved = this.stopping.observe(value, epoch);
    if (!this.stopping.enabled) return;
    if (improved) {
      this.best?.release();
      this.best = this.context.scope.snapshot(this.plan.model);
    }
    this.context.metric('patience_counter', this.stopping.counter, epoch);
    this.context.metric('best_epoch', this.stopping.bestEpoch, epoch);
  }

  /** Mean loss of the batches of the validation set, and its accuracy; null when it was stopped. */
  private async validate(epoch: number): Promise<Evaluation | null> {
    const { validation: loader, loss } = this.plan;
    const evaluator = this.evaluator!;
    const losses: number[] = [];
    let correct = 0;
    let count = 0;
    const collect = async (): Promise<void> => {
      const part = await evaluator.collect();
      losses.push(...part.losses);
      correct += part.correct;
      count += part.count;
    };
    let batch = 0;
    for (const rows of loader!.epoch()) {
      if (!(await this.unlessStopped(() => evaluator.step(loader!.dataset.batch(rows))))) return null;
      batch++;
      if (this.progress.due()) {
        await collect();
        const frame = { epoch, batch, total_batches: loader!.length, phase: 'validation' as const };
        this.progress.batch({ ...frame, loss: losses.at(-1) ?? null });
      }
      await this.context.drained();
    }
    await collect();
    return { loss: mean(losses), accuracy: isClassification(loss) && count > 0 ? correct / count : null };
  }

  /** Runs one step unless the run is asked to stop; true when the runtime accepted it. */
  private async unlessStopped(step: () => Promise<unknown>): Promise<boolean> {
    if (this.context.cancelled) return false;
    try {
      await step();
      return true;
    } catch (error) {
      if (error instanceof RuntimeError && error.code === 'cancelled') return false;
      throw error;
    }
  }

  private async collect(): Promise<void> {
    const columns = await this.trainer.collect();
    const first = this.history.add(columns.loss);
    this.reportColumns(columns, first);
  }

  /** Series of single batches; `first` is the number of batches before these. */
  private reportColumns({ loss, gradNorm, gradNormClipped, updateRatio }: StepColumns, first: number): void {
    const { batchMetrics, logInterval } = this.plan;
    const series = {
      ...(batchMetrics && { train_loss_batch: loss }),
      ...(gradNorm && { grad_norm: gradNorm }),
      ...(gradNormClipped && { grad_norm_clipped: gradNormClipped }),
      ...(updateRatio && { update_ratio: updateRatio }),
    };
    for (const [name, column] of Object.entries(series)) {
      column.forEach((value, row) => {
        const batch = first + row + 1;
        // A step that only gathers gradients has no norm: its cell is not a number.
        const empty = Number.isNaN(value) && name !== 'train_loss_batch';
        if (batch % logInterval === 0 && !empty) this.context.metric(name, value, batch);
      });
    }
  }

  private async interrupt(epoch: number, batch: number, phase: Stop['phase']): Promise<void> {
    await this.collect();
    const path = await this.checkpoint('interrupted', `e${epoch}b${batch}`, epoch, batch);
    this.stop = { epoch, batch, phase, checkpointPath: path };
  }

  private async periodicCheckpoint(epoch: number, batch: number): Promise<void> {
    await this.checkpoint('periodic', batch === 0 ? `e${epoch}` : `e${epoch}b${batch}`, epoch, batch);
  }

  /** Writes a checkpoint and records it, unless this run records nothing. */
  private async checkpoint(
    reason: 'interrupted' | 'periodic',
    place: string,
    epoch: number,
    batch: number,
  ): Promise<string | null> {
    const { context, plan } = this;
    if (!context.recordsArtifacts) return null;
    const name = `${fileNamePart(context.runId)}-${fileNamePart(context.nodeId)}-${place}${SAFETENSORS}`;
    const path = join(context.folders.models, reason, name);
    await writeCheckpoint(context, path, plan.model, plan.optimizer, {
      epoch,
      batch,
      reason,
      losses: this.history.losses,
      initial_lrs: [plan.schedule?.initialRate ?? plan.optimizer.spec.lr],
      ...(plan.schedule && { scheduler_class: plan.schedule.spec.type, scheduler_state_dict: plan.schedule.state() }),
    });
    context.artifact('checkpoint', path, { reason, epoch, batch });
    return path;
  }

  private reportEpoch(epoch: number, loss: number, found: Evaluation | null, lr: number): void {
    const { history, plan, stopping } = this;
    this.progress.epoch({
      epoch,
      total_epochs: plan.epochs,
      loss: rounded(loss),
      losses: history.losses.map(rounded),
      lr,
      ...(found && { val_loss: rounded(found.loss), val_losses: history.valLosses.map(rounded) }),
      ...(found && found.accuracy !== null && { val_accuracy: rounded(found.accuracy) }),
      ...(stopping.enabled && { patience_counter: stopping.counter, best_epoch: stopping.bestEpoch }),
      ...(plan.startEpoch > 0 && { start_epoch: plan.startEpoch }),
    });
  }
}

function isMultiple(value: number, of: number): boolean {
  return of > 0 && value % of === 0;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

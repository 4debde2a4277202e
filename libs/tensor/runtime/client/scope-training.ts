import { invalid, unsupported } from '../fields';
import type { ModuleRef, OptimizerRef } from '../handles';
import { checkPorts, normaliseLoss, normaliseOptimizer } from '../specs';
import type { Evaluator, EvaluatorSpec, Feed, Trainer, TrainerSpec } from '../training';
import type { LossSpec, OptimizerSpec, Precision } from '../vocabulary';
import type { Command } from '../wire';
import { asRemote } from './ownership';
import type { ScopeCore } from './scope-core';
import { ClientEvaluator, ClientTrainer, type Seat } from './trainer';

// What a scope opens for training: optimisers, trainers, evaluators.

export function optimizer(scope: ScopeCore, module: ModuleRef, spec: OptimizerSpec): OptimizerRef {
  scope.checkOpen('optimizer');
  scope.use(module, 'optimizer');
  scope.labelled('optimizer', () => normaliseOptimizer(spec));
  const optimizer = scope.newOptimizer(module, spec);
  scope.send(['optimizer', optimizer.id, module.id, spec], [optimizer.id]);
  return optimizer;
}

export function bindOptimizer(
  scope: ScopeCore,
  optimizer: OptimizerRef,
  module: ModuleRef,
): { optimizer: OptimizerRef; how: 'reused' | 'rebound' | 'rebuilt' } {
  scope.checkOpen('bindOptimizer');
  scope.use(optimizer, 'bindOptimizer');
  scope.use(module, 'bindOptimizer');
  if (optimizer.module.id === module.id) {
    scope.owned.hold(asRemote(optimizer).retain());
    return { optimizer, how: 'reused' };
  }
  const shapes = (of: ModuleRef) =>
    of.parameters.filter(({ trainable }) => trainable).map(({ shape, dtype }) => `${dtype}[${shape.join()}]`);
  const how = shapes(optimizer.module).join() === shapes(module).join() ? 'rebound' : 'rebuilt';
  const bound = scope.newOptimizer(module, optimizer.spec);
  scope.send(['bind', bound.id, optimizer.id, module.id, how], [bound.id]);
  return { optimizer: bound, how };
}

export function trainer(scope: ScopeCore, spec: TrainerSpec): Trainer {
  scope.checkOpen('trainer');
  scope.use(spec.module, 'trainer');
  scope.use(spec.optimizer, 'trainer');
  if (spec.optimizer.module.id !== spec.module.id) {
    throw scope.named(invalid('the optimizer belongs to another module: bind it with bindOptimizer first'), 'trainer');
  }
  if (spec.dataParallel) {
    throw scope.named(unsupported('dataParallel needs a runtime of several ranks: this one trains alone'), 'trainer');
  }
  const gen = scope.generatorId(spec.generator, 'trainer');
  const { clipGradNorm, deterministic, observe, precision } = spec;
  return openJob(
    scope,
    'trainer',
    (seat, signal) => new ClientTrainer(seat, spec, signal),
    spec,
    (id) => [
      'trainer',
      id,
      {
        module: spec.module.id,
        optimizer: spec.optimizer.id,
        loss: spec.loss,
        feed: spec.feed,
        precision,
        gen,
        ...(clipGradNorm !== undefined ? { clipGradNorm } : {}),
        ...(deterministic !== undefined ? { deterministic } : {}),
        ...(observe !== undefined ? { observe } : {}),
      },
    ],
  );
}

export function evaluator(scope: ScopeCore, spec: EvaluatorSpec): Evaluator {
  scope.checkOpen('evaluator');
  scope.use(spec.module, 'evaluator');
  const { loss, accuracy, feed, precision } = spec;
  return openJob(
    scope,
    'evaluator',
    (seat, signal) => new ClientEvaluator(seat, spec, signal),
    spec,
    (id) => [
      'evaluator',
      id,
      {
        module: spec.module.id,
        feed,
        precision,
        ...(loss !== undefined ? { loss } : {}),
        ...(accuracy !== undefined ? { accuracy } : {}),
      },
    ],
  );
}

function openJob<J extends Trainer | Evaluator>(
  scope: ScopeCore,
  name: string,
  create: (seat: Seat, signal: AbortSignal | undefined) => J,
  spec: {
    readonly loss?: LossSpec;
    readonly feed: Feed;
    readonly module: ModuleRef;
    readonly signal?: AbortSignal;
    readonly precision: Precision;
  },
  command: (id: number) => Command,
): J {
  const { connection, now } = scope.host;
  const handle = scope.newJob();
  const job = scope.labelled(name, () => {
    checkPorts(spec.module.spec.inputs, Object.keys(spec.feed.inputs));
    if (spec.loss) normaliseLoss(spec.loss);
    scope.checkPrecision(spec.precision);
    return create({ connection, issuer: scope.issuer, handle, now }, spec.signal ?? scope.options.signal);
  });
  scope.send(command(handle.id), [handle.id]);
  scope.jobs.add(job);
  return job;
}

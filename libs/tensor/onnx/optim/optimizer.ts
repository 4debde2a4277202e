import { RuntimeError, type OptimizerSpec, type Shape } from '../../runtime';
import type { EmittedOptimizer, OptimizerPlan } from '../compiler';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { add, div, maximum, mul, sqrt, sub } from '../ops/elementwise';

/** Names of the scalars fed at each step start so, apart from parameters and state slots. */
const FEED = 'optimizer:';

type Update = (
  parameter: Value,
  gradient: Value,
  state: (slot: string) => Value,
) => {
  readonly parameter: Value;
  readonly state: Readonly<Record<string, Value>>;
};

interface Rule {
  readonly slots: readonly string[];
  scalars: OptimizerPlan['scalars'];
  /** `scalar` declares the feed of that name. */
  update(g: Graph, scalar: (name: string) => Value): Update;
}

/**
 * The optimiser's state, feeds and update, as PyTorch defines them. Learning rate, momentum and beta1 are fed at each step,
 * so that a schedule needs no new graph.
 * @throws RuntimeError `unsupported` for an optimiser that is not there
 */
export function optimizerPlan(spec: OptimizerSpec): OptimizerPlan {
  const rule = ruleOf(spec);
  return {
    slots: (parameters) =>
      parameters.flatMap(({ name, shape }) => rule.slots.map((slot) => ({ name: `${slot}.${name}`, shape, fill: 0 }))),
    scalars: (step, hyper) =>
      Object.fromEntries(Object.entries(rule.scalars(step, hyper)).map(([name, value]) => [FEED + name, value])),
    emit: (g, parameters, gradients) => emitUpdates(g, rule, parameters, gradients),
  };
}

function emitUpdates(
  g: Graph,
  rule: Rule,
  parameters: readonly { readonly name: string; readonly value: Value }[],
  gradients: readonly Value[],
): EmittedOptimizer {
  const update = rule.update(g, (name) => g.input(FEED + name, []));
  const state: Record<string, Value> = {};
  const updated = parameters.map(({ name, value }, i) => {
    const slot = (kind: string, shape: Shape) => g.input(`${kind}.${name}`, shape);
    const result = update(value, gradients[i]!, (kind) => slot(kind, value.shape));
    for (const [kind, next] of Object.entries(result.state)) state[`${kind}.${name}`] = next;
    return result.parameter;
  });
  return { parameters: updated, state };
}

function ruleOf(spec: OptimizerSpec): Rule {
  switch (spec.type) {
    case 'SGD':
      return sgd(spec);
    case 'Adam':
      return adam(spec, false);
    case 'AdamW':
      return adam(spec, true);
    default:
      throw new RuntimeError('unsupported', `optimiser ${spec.type} is not available; available: SGD, Adam, AdamW`, {
        op: spec.type,
      });
  }
}

/** `buffer = momentum * buffer + (1 - dampening) * gradient`, but the first buffer is the gradient itself. */
function sgd(spec: OptimizerSpec): Rule {
  const { weightDecay = 0, momentum = 0, dampening = 0, nesterov = false } = spec;
  const remembers = momentum !== 0;
  return {
    slots: remembers ? ['momentum_buffer'] : [],
    scalars: (step, hyper) => ({
      lr: hyper.lr,
      ...(remembers ? { momentum: hyper.momentum } : {}),
      ...(remembers && dampening !== 0 ? { share: step === 1 ? 1 : 1 - dampening } : {}),
    }),
    update: (g, scalar) => (parameter, gradient, state) => {
      let direction = weightDecay === 0 ? gradient : add(g, gradient, mul(g, parameter, weightDecay));
      const kept: Record<string, Value> = {};
      if (remembers) {
        const added = dampening === 0 ? direction : mul(g, direction, scalar('share'));
        const buffer = add(g, mul(g, state('momentum_buffer'), scalar('momentum')), added);
        kept['momentum_buffer'] = buffer;
        direction = nesterov ? add(g, direction, mul(g, buffer, scalar('momentum'))) : buffer;
      }
      return { parameter: sub(g, parameter, mul(g, direction, scalar('lr'))), state: kept };
    },
  };
}

/**
 * Adam, with weight decay in the gradient or (AdamW) on the parameter. The bias corrections are folded into two scalars:
 * `lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)`.
 */
function adam(spec: OptimizerSpec, decoupled: boolean): Rule {
  const { weightDecay = decoupled ? 0.01 : 0, eps = 1e-8, amsgrad = false, betas = [0.9, 0.999] } = spec;
  const beta2 = betas[1];
  return {
    slots: ['exp_avg', 'exp_avg_sq', ...(amsgrad ? ['max_exp_avg_sq'] : [])],
    scalars: (step, hyper) => {
      const root = Math.sqrt(1 - beta2 ** step);
      return {
        share: 1 - hyper.beta1,
        rate: (-hyper.lr * root) / (1 - hyper.beta1 ** step),
        eps: eps * root,
        ...(decoupled && weightDecay !== 0 ? { keep: 1 - hyper.lr * weightDecay } : {}),
      };
    },
    update: (g, scalar) => (parameter, gradient, state) => {
      const decayed = !decoupled && weightDecay !== 0;
      const direction = decayed ? add(g, gradient, mul(g, parameter, weightDecay)) : gradient;
      const old = state('exp_avg');
      const average = add(g, old, mul(g, sub(g, direction, old), scalar('share')));
      const square = add(g, mul(g, state('exp_avg_sq'), beta2), mul(g, mul(g, direction, direction), 1 - beta2));
      const highest = amsgrad ? maximum(g, state('max_exp_avg_sq'), square) : square;
      const step = mul(g, div(g, average, add(g, sqrt(g, highest), scalar('eps'))), scalar('rate'));
      const start = decoupled && weightDecay !== 0 ? mul(g, parameter, scalar('keep')) : parameter;
      return {
        parameter: add(g, start, step),
        state: { exp_avg: average, exp_avg_sq: square, ...(amsgrad ? { max_exp_avg_sq: highest } : {}) },
      };
    },
  };
}

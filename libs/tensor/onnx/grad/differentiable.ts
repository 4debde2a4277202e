import type { Value, Vjp } from '../graph/value';

/**
 * Gives a composite its own vector-Jacobian product: reverse mode jumps from `value` to `over` and never looks at the nodes between.
 * `value` must be the only output of its node that anything differentiable uses.
 */
export function differentiable(value: Value, over: readonly Value[], vjp: (gradient: Value) => ReturnType<Vjp>): Value {
  const { op } = value;
  if (!op) throw new TypeError('differentiable() needs a value that an op produces');
  const index = op.outputs.indexOf(value);
  op.differentiable = over;
  op.vjp = (gradients) => {
    const gradient = gradients[index];
    return gradient ? vjp(gradient) : over.map(() => null);
  };
  return value;
}

import type { OptimizerSpec } from '../../runtime';
import { Graph } from '../graph/graph';
import { smooth } from '../testing/check-gradients';
import { floats, numbersOf, runGraph } from '../testing/run-graph';
import { optimizerPlan } from './optimizer';

type Step = (p: number, grad: number, t: number, lr: number) => number;

/** torch.optim.SGD, one element, as its documentation writes it. */
function sgd(spec: OptimizerSpec): Step {
  const { momentum = 0, dampening = 0, nesterov = false, weightDecay = 0 } = spec;
  let buffer: number | null = null;
  return (p, grad, _t, lr) => {
    let g = grad + weightDecay * p;
    if (momentum) {
      buffer = buffer === null ? g : momentum * buffer + (1 - dampening) * g;
      g = nesterov ? g + momentum * buffer : buffer;
    }
    return p - lr * g;
  };
}

/** torch.optim.Adam and AdamW, one element. */
function adam(spec: OptimizerSpec): Step {
  const decoupled = spec.type === 'AdamW';
  const { betas = [0.9, 0.999], eps = 1e-8, amsgrad = false, weightDecay = decoupled ? 1e-2 : 0 } = spec;
  let [m, v, highest] = [0, 0, 0];
  return (start, grad, t, lr) => {
    const p = decoupled ? start * (1 - lr * weightDecay) : start;
    const g = decoupled ? grad : grad + weightDecay * start;
    m = betas[0] * m + (1 - betas[0]) * g;
    v = betas[1] * v + (1 - betas[1]) * g * g;
    highest = Math.max(highest, v);
    const root = Math.sqrt(amsgrad ? highest : v) / Math.sqrt(1 - betas[1] ** t) + eps;
    return p - ((lr / (1 - betas[0] ** t)) * m) / root;
  };
}

const STEPS = 12;
const SIZE = 6;

/** The graph's update, step by step, with the state fed back. */
async function run(spec: OptimizerSpec, lrAt: (t: number) => number): Promise<number[]> {
  const plan = optimizerPlan(spec);
  const g = new Graph();
  const parameter = { name: 'fc.weight', value: g.input('fc.weight', [2, 3]) };
  const emitted = plan.emit(g, [parameter], [g.input('grad', [2, 3])]);
  const state = Object.fromEntries(
    plan
      .slots([{ name: 'fc.weight', shape: [2, 3] }])
      .map(({ name, fill }) => [name, floats([2, 3], new Array<number>(SIZE).fill(fill))]),
  );
  expect(Object.keys(emitted.state).sort()).toEqual(Object.keys(state).sort());
  let value = smooth([2, 3], 5);
  for (let t = 1; t <= STEPS; t++) {
    const scalars = plan.scalars(t, { lr: lrAt(t), momentum: spec.momentum ?? 0, beta1: spec.betas?.[0] ?? 0.9 });
    const feeds = {
      ...state,
      'fc.weight': value,
      grad: smooth([2, 3], 100 + t),
      ...Object.fromEntries(Object.entries(scalars).map(([name, number]) => [name, floats([], [number])])),
    };
    const outputs = Object.fromEntries(Object.entries(emitted.state).map(([name, next]) => [`new ${name}`, next]));
    const results = await runGraph(g, { ...outputs, value: emitted.parameters[0]! }, feeds);
    value = results['value']!;
    for (const name of Object.keys(state)) state[name] = results[`new ${name}`]!;
  }
  return numbersOf(value);
}

const specs: readonly OptimizerSpec[] = [
  { type: 'SGD', lr: 0.1 },
  { type: 'SGD', lr: 0.1, weightDecay: 0.05 },
  { type: 'SGD', lr: 0.1, momentum: 0.9 },
  { type: 'SGD', lr: 0.1, momentum: 0.9, dampening: 0.3, weightDecay: 0.01 },
  { type: 'SGD', lr: 0.1, momentum: 0.8, nesterov: true },
  { type: 'Adam', lr: 0.01 },
  { type: 'Adam', lr: 0.01, betas: [0.7, 0.99], eps: 1e-3, weightDecay: 0.1 },
  { type: 'Adam', lr: 0.01, amsgrad: true },
  { type: 'AdamW', lr: 0.01 },
  { type: 'AdamW', lr: 0.01, weightDecay: 0.3, amsgrad: true },
  { type: 'AdamW', lr: 0.01, weightDecay: 0 },
];

describe('optimisers follow PyTorch', () => {
  for (const spec of specs) {
    test(JSON.stringify(spec), async () => {
      const lrAt = (t: number) => spec.lr * (t > 6 ? 0.5 : 1);
      const start = numbersOf(smooth([2, 3], 5));
      const expected = start.map((p, i) => {
        const step = spec.type === 'SGD' ? sgd(spec) : adam(spec);
        for (let t = 1; t <= STEPS; t++) p = step(p, numbersOf(smooth([2, 3], 100 + t))[i]!, t, lrAt(t));
        return p;
      });
      (await run(spec, lrAt)).forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5));
    });
  }

  test('state slots have PyTorch names', () => {
    const names = (spec: OptimizerSpec) =>
      optimizerPlan(spec)
        .slots([{ name: 'w', shape: [2] }])
        .map(({ name }) => name);
    expect(names({ type: 'SGD', lr: 1 })).toEqual([]);
    expect(names({ type: 'SGD', lr: 1, momentum: 0.9 })).toEqual(['momentum_buffer.w']);
    expect(names({ type: 'Adam', lr: 1, amsgrad: true })).toEqual(['exp_avg.w', 'exp_avg_sq.w', 'max_exp_avg_sq.w']);
  });

  test('an optimiser that is not there says so', () => {
    expect(() => optimizerPlan({ type: 'RAdam', lr: 1 })).toThrow(
      expect.objectContaining({ code: 'unsupported', op: 'RAdam' }),
    );
  });
});

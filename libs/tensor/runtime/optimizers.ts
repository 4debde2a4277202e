import { bool, invalid, num, readFields, show, unsupported, type Field } from './fields';
import type { ParamMeta } from './handles';
import type { OptimizerSpec } from './vocabulary';

interface Common {
  readonly lr: number;
  readonly weightDecay: number;
}
export interface NormalSgd extends Common {
  readonly type: 'SGD';
  readonly momentum: number;
  readonly dampening: number;
  readonly nesterov: boolean;
}
export interface NormalAdam extends Common {
  readonly type: 'Adam' | 'AdamW';
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly amsgrad: boolean;
}
/** An optimiser with every default filled. */
export type NormalOptimizer = NormalSgd | NormalAdam;

const LATER: readonly string[] = ['RMSprop', 'Adagrad', 'RAdam', 'NAdam', 'Rprop', 'ASGD'];

const betas: Field<readonly [number, number]> = (value, name) => {
  if (value === undefined) return [0.9, 0.999];
  const valid = (beta: unknown) => typeof beta === 'number' && beta >= 0 && beta < 1;
  if (!Array.isArray(value) || value.length !== 2 || !value.every(valid)) {
    throw invalid(`${name} must be two numbers from 0 to below 1, got ${show(value)}`);
  }
  return [value[0], value[1]];
};

const rate = num({ min: 0 });
const decay = (fallback: number) => num({ min: 0, default: fallback });
const ADAM = { lr: rate, betas, eps: num({ min: 0, default: 1e-8 }), amsgrad: bool(false) };
const SCHEMAS = {
  SGD: {
    lr: rate,
    weightDecay: decay(0),
    momentum: num({ min: 0, default: 0 }),
    dampening: num({ default: 0 }),
    nesterov: bool(false),
  },
  Adam: { ...ADAM, weightDecay: decay(0) },
  AdamW: { ...ADAM, weightDecay: decay(0.01) },
};
const ARGUMENTS = ['weightDecay', 'momentum', 'dampening', 'nesterov', 'betas', 'eps', 'amsgrad'];

/**
 * Fills PyTorch's defaults and refuses each argument where it does not apply.
 * @throws RuntimeError `unsupported` for a known optimiser that is not there, `invalid_argument` for anything else
 */
export function normaliseOptimizer(spec: OptimizerSpec): NormalOptimizer {
  const { type, ...given } = spec;
  const rest: Readonly<Record<string, unknown>> = given;
  if (LATER.includes(type)) {
    throw unsupported(`optimizer ${type} is not available; available: ${Object.keys(SCHEMAS).join(', ')}`);
  }
  if (!Object.hasOwn(SCHEMAS, type)) {
    throw invalid(`unknown optimizer '${String(type)}'; known: ${Object.keys(SCHEMAS).join(', ')}`);
  }
  const known = type as keyof typeof SCHEMAS;
  for (const name of Object.keys(rest)) {
    if (rest[name] !== undefined && ARGUMENTS.includes(name) && !Object.hasOwn(SCHEMAS[known], name)) {
      throw invalid(`argument ${name} does not apply to the optimizer ${type}: remove it`);
    }
  }
  if (known !== 'SGD') return { type: known, ...readFields(SCHEMAS[known], rest, type) };
  const read = readFields(SCHEMAS.SGD, rest, type);
  if (read.nesterov && (read.momentum <= 0 || read.dampening !== 0)) {
    throw invalid('SGD: Nesterov momentum requires a momentum and zero dampening');
  }
  return { type: 'SGD', ...read };
}

/**
 * What an optimiser keeps between steps, by PyTorch's slot names: `step`, then `<slot>.<parameter>` for each trainable parameter.
 * SGD without momentum keeps only the step.
 */
export function optimizerEntries(spec: OptimizerSpec, parameters: readonly ParamMeta[]): readonly ParamMeta[] {
  const normal = normaliseOptimizer(spec);
  const slots =
    normal.type === 'SGD'
      ? normal.momentum > 0
        ? ['momentum_buffer']
        : []
      : ['exp_avg', 'exp_avg_sq', ...(normal.amsgrad ? ['max_exp_avg_sq'] : [])];
  const trainable = parameters.filter((parameter) => parameter.trainable);
  return [
    { name: 'step', shape: [], dtype: 'float32', trainable: false },
    ...slots.flatMap((slot) =>
      trainable.map(({ name, shape }): ParamMeta => ({
        name: `${slot}.${name}`,
        shape,
        dtype: 'float32',
        trainable: false,
      })),
    ),
  ];
}

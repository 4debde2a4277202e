import { CodedError } from '@cdui/protocol';

/** The schedules that work; their names are PyTorch's. */
export const SCHEDULE_TYPES = ['StepLR', 'CosineAnnealingLR'] as const;
export type ScheduleType = (typeof SCHEDULE_TYPES)[number];

/** What a schedule was made from: PyTorch's constructor arguments. */
export interface ScheduleSpec {
  readonly type: string;
  readonly params: Readonly<Record<string, number>>;
}

/** The rate for step `n` from the rate before it. Chainable form, as PyTorch steps its schedulers. */
type Recurrence = (n: number, previous: number) => number;

/**
 * A learning rate that changes once per step. It holds plain numbers only: whoever trains sends `lr` to the runtime.
 *
 * The rates are those of PyTorch's schedulers to the last digit that double precision gives, because each is computed from the one
 * before it by the same recurrence rather than from a closed formula.
 */
export class Schedule {
  private steps = 0;
  private rate: number;
  private readonly recurrence: Recurrence;

  /** @throws CodedError `invalid_param`, `option_not_available` */
  constructor(
    readonly spec: ScheduleSpec,
    readonly initialRate: number,
  ) {
    this.recurrence = recurrenceOf(spec);
    this.rate = initialRate;
  }

  get lr(): number {
    return this.rate;
  }

  /** Goes one step on and returns the new rate. */
  step(): number {
    this.steps++;
    this.rate = this.recurrence(this.steps, this.rate);
    return this.rate;
  }

  /** What a checkpoint keeps; names as in PyTorch's state dict. */
  state(): Readonly<Record<string, number>> {
    return { last_epoch: this.steps, last_lr: this.rate, base_lr: this.initialRate, ...this.spec.params };
  }
}

function recurrenceOf({ type, params }: ScheduleSpec): Recurrence {
  switch (type) {
    case 'StepLR':
      return stepLr(positiveInteger(params, 'step_size'), number(params, 'gamma'));
    case 'CosineAnnealingLR':
      return cosineAnnealingLr(positiveInteger(params, 'T_max'));
    default:
      throw new CodedError(
        'option_not_available',
        `The learning-rate schedule "${type}" is not available: choose ${SCHEDULE_TYPES.join(' or ')}`,
        { param: 'type', value: type, options: SCHEDULE_TYPES },
      );
  }
}

/** lr * gamma, every `size` steps. */
function stepLr(size: number, gamma: number): Recurrence {
  return (n, previous) => (n % size === 0 ? previous * gamma : previous);
}

/** Half a cosine from the first rate to 0 over `tMax` steps, then back up, and so on (SGDR without restarts, PyTorch's chainable form). */
function cosineAnnealingLr(tMax: number): Recurrence {
  let initial: number | undefined;
  return (n, previous) => {
    initial ??= previous;
    // At the bottom the ratio below would divide by zero: the first step up is taken from the formula's difference.
    if ((n - 1 - tMax) % (2 * tMax) === 0) {
      return previous + (initial * (1 - Math.cos(Math.PI / tMax))) / 2;
    }
    return ((1 + Math.cos((Math.PI * n) / tMax)) / (1 + Math.cos((Math.PI * (n - 1)) / tMax))) * previous;
  };
}

function number(params: Readonly<Record<string, number>>, name: string): number {
  const value = params[name];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new CodedError('invalid_param', `LRScheduler: ${name} is ${String(value)}, it must be a finite number`, {
      param: name,
      value,
    });
  }
  return value;
}

function positiveInteger(params: Readonly<Record<string, number>>, name: string): number {
  const value = number(params, name);
  if (!Number.isInteger(value) || value < 1) {
    throw new CodedError('invalid_param', `LRScheduler: ${name} is ${value}, it must be a whole number of at least 1`, {
      param: name,
      value,
    });
  }
  return value;
}

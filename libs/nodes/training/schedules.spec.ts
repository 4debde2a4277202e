import * as fc from 'fast-check';
import golden from './golden/schedules.json';
import { Schedule, type ScheduleSpec } from './schedules';

function rates(spec: ScheduleSpec, lr: number, count: number): number[] {
  const schedule = new Schedule(spec, lr);
  return Array.from({ length: count }, () => {
    const rate = schedule.lr;
    schedule.step();
    return rate;
  });
}

describe('Schedule', () => {
  it.each(
    golden.cases.map((entry) => [`${entry.type} ${JSON.stringify(entry.params)} from ${entry.lr}`, entry] as const),
  )('gives the rates of PyTorch: %s', (_, entry) => {
    const found = rates(
      { type: entry.type, params: entry.params as unknown as Record<string, number> },
      entry.lr,
      entry.rates.length,
    );
    found.forEach((rate, step) => {
      // Rates near a cosine's bottom are differences of nearly equal numbers: compare at the scale of the first rate.
      expect(Math.abs(rate - entry.rates[step]!)).toBeLessThanOrEqual(1e-12 * entry.lr);
    });
  });

  it('comes back to the first rate after every two cosine halves', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 1e-5, max: 1, noNaN: true }), (tMax, lr) => {
        const found = rates({ type: 'CosineAnnealingLR', params: { T_max: tMax } }, lr, 2 * tMax + 1);
        expect(found[2 * tMax]! / lr).toBeCloseTo(1, 6);
        expect(found[tMax]! / lr).toBeCloseTo(0, 6);
      }),
    );
  });

  it('keeps what a checkpoint needs', () => {
    const schedule = new Schedule({ type: 'StepLR', params: { step_size: 1, gamma: 0.5 } }, 0.4);
    schedule.step();
    expect(schedule.state()).toEqual({ last_epoch: 1, last_lr: 0.2, base_lr: 0.4, step_size: 1, gamma: 0.5 });
  });

  it.each([
    ['StepLR', { step_size: 0, gamma: 0.1 }, /step_size is 0/],
    ['StepLR', { step_size: 1.5, gamma: 0.1 }, /step_size is 1.5/],
    ['StepLR', { step_size: 1, gamma: NaN }, /gamma is NaN/],
    ['CosineAnnealingLR', { T_max: -1 }, /T_max is -1/],
    ['CosineAnnealingLR', {}, /T_max is undefined/],
    ['OneCycleLR', {}, /"OneCycleLR" is not available: choose StepLR or CosineAnnealingLR/],
  ] as [string, Record<string, number>, RegExp][])('refuses %s %j', (type, params, message) => {
    expect(() => new Schedule({ type, params }, 0.1)).toThrow(message);
  });
});

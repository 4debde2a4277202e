import * as fc from 'fast-check';
import { EarlyStopping } from './early-stopping';

function epochsRun(values: readonly number[], patience: number, direction: 'smaller' | 'larger' = 'smaller') {
  const stopping = new EarlyStopping(patience, direction);
  for (const [i, value] of values.entries()) {
    stopping.observe(value, i + 1);
    if (stopping.exhausted) return { epochs: i + 1, best: stopping.bestEpoch };
  }
  return { epochs: values.length, best: stopping.bestEpoch };
}

describe('EarlyStopping', () => {
  it('stops after so many epochs without a strictly better value', () => {
    expect(epochsRun([5, 4, 4, 4, 1], 2)).toEqual({ epochs: 4, best: 2 });
    expect(epochsRun([5, 4, 4.5, 3, 3, 9, 1], 2)).toEqual({ epochs: 6, best: 4 });
  });

  it('looks for the largest value when told so', () => {
    expect(epochsRun([0.1, 0.9, 0.8, 0.95, 0.9], 2, 'larger')).toEqual({ epochs: 5, best: 4 });
  });

  it('never takes not-a-number for better', () => {
    expect(epochsRun([NaN, NaN, 1], 2)).toEqual({ epochs: 2, best: 0 });
    expect(epochsRun([1, NaN, NaN], 2)).toEqual({ epochs: 3, best: 1 });
  });

  it('without patience watches and does not stop', () => {
    expect(epochsRun([1, 2, 3, 4, 0.5, 6], 0)).toEqual({ epochs: 6, best: 5 });
  });

  it('stops exactly `patience` epochs after the best one, or not at all', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 6 }),
        (values, patience) => {
          const { epochs, best } = epochsRun(values, patience);
          expect(values[best - 1]).toBe(Math.min(...values.slice(0, epochs)));
          if (epochs < values.length) expect(epochs - best).toBe(patience);
        },
      ),
    );
  });
});

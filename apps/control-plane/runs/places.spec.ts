import { checkOptions } from '@cdui/protocol';
import { placesForAll, type Placeable } from './places';

const workers = { get: () => null, list: () => [] };
const places = { machine: { devices: ['cpu', 'cuda:0'] }, workers };

function run(options: object): Placeable {
  return { asked: 'cpu', options: checkOptions(options), nodeTypes: null };
}

describe('placesForAll', () => {
  it('finds a place for each of the runs that are submitted together', () => {
    const all = placesForAll([run({}), run({ target: { worker: 'any' } })], places);
    expect(all.map(({ at }) => at.queueKey)).toEqual(['cpu', 'any/cpu']);
  });

  it('refuses all of them when one could never run', () => {
    const all = [run({}), run({ target: { worker: 'nobody' } }), run({})];
    expect(() => placesForAll(all, places)).toThrow(expect.objectContaining({ code: 'worker_unknown' }));
  });
});

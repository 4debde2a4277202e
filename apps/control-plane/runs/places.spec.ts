import { checkOptions } from '@cdui/protocol';
import type { RunRecord } from '@cdui/execution';
import { placeOfRecord, placesForAll, type Placeable } from './places';
import { resumeFacts, resumeOf } from './resume';

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

describe('a run that a server before this one gave to a worker', () => {
  const record = (options: object, parts: Partial<RunRecord> = {}): RunRecord =>
    ({ options, queueKey: 'any/cuda', workerId: 'box', devices: ['cuda:1'], facts: null, ...parts }) as RunRecord;

  it('waits for what it asked for when it comes back, not for what it got', () => {
    const anywhere = record({ device: 'cuda', target: { worker: 'any', devices: null } });
    expect(placeOfRecord(anywhere)).toEqual({ worker: 'any', devices: [], kind: 'cuda', queueKey: 'any/cuda' });
    const set = record({ device: 'cuda:2', target: { worker: 'box', devices: ['cuda:2', 'cuda:0'] } });
    expect(placeOfRecord(set)).toMatchObject({ worker: 'box', devices: ['cuda:2', 'cuda:0'] });
  });

  it('waits where its row says when nothing else is known of it', () => {
    expect(placeOfRecord(record({}))).toEqual({ worker: 'box', devices: ['cuda:1'], queueKey: 'any/cuda' });
    const local = record({}, { queueKey: 'cpu', workerId: null, devices: null });
    expect(placeOfRecord(local)).toEqual({ worker: 'local', devices: ['cpu'], queueKey: 'cpu' });
  });

  it('holds the physical card that it got', () => {
    const slots = [{ worker: 'box', device: 'cuda:1' }];
    for (const names of [{ identities: { 'cuda:1': 'card:GPU-7' } }, {}]) {
      const placement = { worker: 'box', devices: ['cuda:1'], slots, ...names };
      const facts = resumeFacts({ attempt: 2, placement });
      const resume = resumeOf(record({}, { facts }));
      expect([resume?.attempt, resume?.placement]).toEqual([2, placement]);
    }
  });
});

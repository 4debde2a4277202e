import { InteractiveLimits } from './interactive-limits';
import { parseOverrides, SlotLimits } from './slot-limits';

describe('SlotLimits', () => {
  it('counts accelerators and the processor apart', () => {
    const limits = new SlotLimits({ gpu: 1, cpu: 2, overrides: '' });
    expect(['cpu', 'cuda:0', 'mps:0'].map((device) => limits.of({ worker: 'local', device }))).toEqual([2, 1, 1]);
  });

  it('lets single slots differ; a device alone is the server’s own', () => {
    const limits = new SlotLimits({ gpu: 1, cpu: 2, overrides: 'cuda:0=2, gpu-box-1/cuda:0=3' });
    expect(limits.of({ worker: 'local', device: 'cuda:0' })).toBe(2);
    expect(limits.of({ worker: 'gpu-box-1', device: 'cuda:0' })).toBe(3);
    expect(limits.of({ worker: 'gpu-box-2', device: 'cuda:0' })).toBe(1);
  });

  it.each([
    ['ignores what is malformed', 'nonsense,cuda=2,cuda:0,=3,cuda:1=x,a/b/cuda:1=2,cpu=4', { 'local/cpu': 4 }],
    ['makes less than one one', 'cpu=0,cuda:0=-3', { 'local/cpu': 1, 'local/cuda:0': 1 }],
    ['lets the last of two count', 'cpu=3,cpu=5', { 'local/cpu': 5 }],
    ['finds none in nothing', ' , ', {}],
  ])('%s', (_what, text, expected) => {
    expect(Object.fromEntries(parseOverrides(text))).toEqual(expected);
  });

  it('tells which items it ignores', () => {
    const ignored: string[] = [];
    parseOverrides('nonsense, cpu=2,, cuda:0=x', (item) => ignored.push(item));
    expect(ignored).toEqual(['nonsense', 'cuda:0=x']);
  });

  it('never admits less than one run', () => {
    const limits = new SlotLimits({ gpu: 0, cpu: -5, overrides: '' });
    expect([limits.of({ worker: 'local', device: 'cpu' }), limits.of({ worker: 'x', device: 'cuda:3' })]).toEqual([
      1, 1,
    ]);
  });
});

describe('InteractiveLimits', () => {
  it('admits so many runs, and one of each session', () => {
    const limits = new InteractiveLimits(2);
    expect(limits.admit('a', 's1')).toBeNull();
    expect(limits.admit('b', 's1')).toMatchObject({ code: 'interactive_limit', params: { run_id: 'a' } });
    expect(limits.admit('c', 's2')).toBeNull();
    expect(limits.admit('d', 's3')).toMatchObject({ code: 'interactive_limit', params: { limit: 2 } });
    limits.release('a');
    expect(limits.admit('e', null)).toBeNull();
    limits.release('c');
    expect(limits.admit('f', null)).toBeNull();
  });
});

import { parseDevice, parseErrorMode, parseInput, parseRetries, parseSeed, runOptions } from './arguments';

it.each([
  ['cpu', 'cpu'],
  ['auto', 'cpu'],
  ['cuda', 'cuda:0'],
  ['CUDA:3', 'cuda:3'],
  ['mps', 'mps:0'],
])('reads the device %s as %s', (text, device) => {
  expect(parseDevice(text)).toBe(device);
});

it.each([
  [parseDevice, 'tpu'],
  [parseDevice, ''],
  [parseDevice, 'cuda:-1'],
  [parseDevice, 'mps:1'],
  [parseSeed, '-1'],
  [parseSeed, '4294967296'],
  [parseSeed, '1.5'],
  [parseSeed, 'x'],
  [parseSeed, ''],
  [parseSeed, '1e3'],
  [parseRetries, '11'],
  [parseErrorMode, 'ignore'],
  [parseInput, 'a'],
  [parseInput, '=1'],
] as const)('%p refuses %j', (parse, text) => {
  expect(() => parse(text)).toThrow(/^Give /);
});

it('gathers inputs by name, the last of a name and all that follows the first equals sign', () => {
  const inputs = ['a=1', 'b=x=y', ' c =', 'a=2'].reduce<ReadonlyMap<string, string> | undefined>(
    (before, text) => parseInput(text, before),
    undefined,
  );
  expect([...inputs!]).toEqual([
    ['a', '2'],
    ['b', 'x=y'],
    ['c', ''],
  ]);
});

it('reads the largest seed and zero', () => {
  expect([parseSeed('0'), parseSeed('4294967295'), parseRetries('10'), parseErrorMode('retry')]).toEqual([
    0,
    4294967295,
    10,
    'retry',
  ]);
});

it('takes from the command line, else from the graph, else the defaults', () => {
  const settings = { device: 'cuda', seed: 7, deterministic: true };
  expect(runOptions({ device: 'cpu', seed: 0 }, settings)).toMatchObject({
    device: 'cpu',
    seed: 0,
    deterministic: true,
  });
  expect(runOptions({}, settings)).toMatchObject({ device: 'cuda:0', seed: 7 });
  expect(runOptions({})).toEqual({
    device: 'cpu',
    seed: null,
    deterministic: false,
    error_mode: 'fail_fast',
    max_retries: 0,
    verbose: false,
  });
});

import { describeSummary, duration, short } from './summary';

it.each([
  [
    { type: 'tensor', shape: [], dtype: 'float32', min: 0.5, max: 0.5, mean: 0.5, values: [0.5] },
    'Tensor[] float32 0.5',
  ],
  [{ type: 'tensor', shape: [2, 3], dtype: 'int64', min: 0, max: 9 }, 'Tensor[2, 3] int64 min 0 max 9'],
  [{ type: 'tensor', shape: [2], dtype: 'float32', min: null, max: null, mean: null }, 'Tensor[2] float32'],
  [{ type: 'model', class: 'Module', params: 1234, trainable: 1234 }, 'Model(1,234 params)'],
  [{ type: 'scalar', value: 0.98 }, '0.98'],
  [{ type: 'string', value: 'short' }, '"short"'],
  [{ type: 'string', value: 'x'.repeat(200) }, `Text(200 characters) "${'x'.repeat(60)}..."`],
  [{ type: 'list', length: 2, repr: '[1, 2]' }, 'List(2) [1, 2]'],
  [{ type: 'loss', repr: 'y'.repeat(300) }, `${'y'.repeat(117)}...`],
  [{}, ''],
])('describes %j as %s', (summary, text) => {
  expect(describeSummary(summary)).toBe(text);
});

it.each([
  [0.04, '0.0 s'],
  [9.94, '9.9 s'],
  [12.4, '12 s'],
  [59.7, '1 min 00 s'],
  [125, '2 min 05 s'],
  [3720, '1 h 02 min'],
  [NaN, '?'],
])('%p seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

it.each([
  [0.001, '0.001'],
  [0.00001234, '1.23e-5'],
  [0.412345, '0.4123'],
  [3, '3'],
  [123456.78, '123456.8'],
  [1.5e12, '1500000000000'],
  [1.234567e20, '1.23e+20'],
  [NaN, 'NaN'],
  [null, 'null'],
])('%p is written %s', (value, text) => {
  expect(short(value)).toBe(text);
});

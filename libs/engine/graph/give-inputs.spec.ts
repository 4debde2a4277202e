import type { GraphFile } from '@cdui/protocol';
import { giveInputs } from './give-inputs';
import { catalogView } from './node-types';
import { planGraph } from './plan';
import { graph, node } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';

const registry = sampleRegistry();
const presets = samplePresets();
const catalog = catalogView(registry, presets);
const readImage = (text: string) =>
  text === 'cat.png' ? { value: 'iVBOR' } : { problem: 'which is no file: name a PNG image' };

function give(file: GraphFile, texts: Readonly<Record<string, string>>) {
  const { graph: given, issues } = giveInputs(file, new Map(Object.entries(texts)), { catalog, presets, readImage });
  const values = Object.fromEntries(given.nodes.map(({ id, data }) => [id, data?.params?.['value']]));
  return { given, values, problems: issues.map(({ message }) => message), codes: issues.map(({ code }) => code) };
}

const file = (...types: readonly string[]): GraphFile =>
  graph(
    [
      node('s', 'Start'),
      ...types.map((type, at) => node(`n${at}`, 'GraphInput', { name: `x${at}`, type, default: '' })),
    ],
    types.map((_, at) => `s => n${at}`),
  );

it.each<[string, string, unknown]>([
  ['string', '', ''],
  ['string', '7', '7'],
  ['string', ' a=b ', ' a=b '],
  ['number', '2.5', 2.5],
  ['number', ' -1e3 ', -1000],
  ['integer', '3', 3],
  ['boolean', 'True', true],
  ['json', '{"a":[1,null]}', { a: [1, null] }],
  ['json', 'null', null],
  ['image', 'cat.png', 'iVBOR'],
])('reads a %s from %j', (type, text, value) => {
  const { values, problems } = give(file(type), { x0: text });
  expect(problems).toEqual([]);
  expect(values).toEqual({ s: undefined, n0: value });
});

it.each<[string, string, RegExp]>([
  ['number', 'many', /^Input "x0" \(number\) got "many", which is not a number$/],
  ['integer', '1.5', /which is not a whole number$/],
  ['boolean', 'yes', /which is neither true nor false$/],
  ['json', '[1,', /which is not valid JSON$/],
  ['number', ' ', /which is empty: give it a value$/],
  ['image', 'dog.png', /which is no file: name a PNG image$/],
])('says why a %s cannot be read from %j', (type, text, message) => {
  const { values, problems, codes } = give(file(type), { x0: text });
  expect(problems).toEqual([expect.stringMatching(message)]);
  expect(codes).toEqual(['invalid_input']);
  expect(values['n0']).toBeUndefined();
});

it('names the inputs that there are', () => {
  expect(give(file('string', 'json'), { y: '1' }).problems).toEqual([
    'The graph has no input "y": its inputs are x0, x1',
  ]);
  expect(give(file(), { y: '1' }).problems).toEqual(['The graph has no input "y": it has none']);
});

it('leaves the file alone, and what is not named', () => {
  const original = file('string', 'json');
  const before = JSON.stringify(original);
  const { values } = give(original, { x1: '[1]' });
  expect(values).toEqual({ s: undefined, n0: undefined, n1: [1] });
  expect(JSON.stringify(original)).toBe(before);
  expect(give(original, {}).given).toBe(original);
});

it('reaches the plan, though the graph has no answer to give', () => {
  const planned = planGraph(give(file('number'), { x0: '4' }).given, { registry, presets });
  expect('plan' in planned && planned.plan.nodes.find(({ id }) => id === 'n0')?.params['value']).toBe(4);
});

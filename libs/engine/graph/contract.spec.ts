import type { GraphFile } from '@cdui/protocol';
import { coerceInputs } from './coerce';
import { graphContract, parseDefault } from './contract';
import type { GraphContract, GraphInputType } from './contract';
import { catalogView } from './node-types';
import { graph, node, subgraph } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';

const presets = samplePresets();
const catalog = catalogView(sampleRegistry(), presets);
const contractOf = (file: GraphFile) => graphContract(file, catalog, presets);
const start = node('s', 'Start');

describe('graphContract', () => {
  it("lists the file's own interface nodes in file order, with defaults parsed", () => {
    const file = graph(
      [
        start,
        node('a', 'GraphInput', {
          name: 'x',
          type: 'number',
          required: false,
          default: '2.5',
          description: 'a number',
        }),
        node('b', 'GraphInput'),
        node('o', 'GraphOutput', { name: 'result' }),
        node('g', 'subgraph:g'),
      ],
      ['s => a', 's => b', 'a.value -> o.value'],
      {
        subgraphs: [
          subgraph(
            'g',
            [node('inner', 'GraphInput', { name: 'hidden' }), node('out', 'GraphOutput')],
            ['inner.value -> out.value'],
          ),
        ],
      },
    );
    expect(contractOf(file)).toEqual({
      contract: {
        inputs: [
          { name: 'x', type: 'number', required: false, default: 2.5, description: 'a number', node_id: 'a' },
          { name: 'input', type: 'string', required: true, default: '', description: '', node_id: 'b' },
        ],
        outputs: [{ name: 'result', description: '', node_id: 'o' }],
      },
      issues: [],
    });
  });

  it.each([
    ['no output', [node('a', 'GraphInput')], ['s => a'], null],
    [
      'an input without trigger',
      [node('a', 'GraphInput'), node('o', 'GraphOutput')],
      ['s => o', 'a.value -> o.value'],
      'a',
    ],
    [
      'an output that is not reached',
      [node('a', 'GraphInput'), node('b', 'Source'), node('o', 'GraphOutput')],
      ['s => a', 'b.tensor -> o.value'],
      'o',
    ],
    [
      'a bad name',
      [node('a', 'GraphInput', { name: 'a b' }), node('o', 'GraphOutput')],
      ['s => a', 'a.value -> o.value'],
      'a',
    ],
    [
      'a name of 65 letters',
      [node('a', 'GraphInput', { name: 'x'.repeat(65) }), node('o', 'GraphOutput')],
      ['s => a', 'a.value -> o.value'],
      'a',
    ],
    [
      'an unknown type',
      [node('a', 'GraphInput', { type: 'text' }), node('o', 'GraphOutput')],
      ['s => a', 'a.value -> o.value'],
      'a',
    ],
    [
      'an optional image',
      [node('a', 'GraphInput', { type: 'image', required: false }), node('o', 'GraphOutput')],
      ['s => a', 'a.value -> o.value'],
      'a',
    ],
    [
      'two inputs of one name',
      [node('a', 'GraphInput'), node('b', 'GraphInput'), node('o', 'GraphOutput')],
      ['s => a', 's => b', 'a.value -> o.value'],
      'b',
    ],
    [
      'two outputs of one name',
      [node('a', 'GraphInput'), node('o', 'GraphOutput'), node('p', 'GraphOutput')],
      ['s => a', 'a.value -> o.value', 'a.value -> p.value'],
      'p',
    ],
  ])('refuses %s', (_name, nodes, lines, at) => {
    expect(contractOf(graph([start, ...nodes], lines)).issues.map((issue) => [issue.code, issue.node_id])).toEqual([
      ['invalid_contract', at],
    ]);
  });

  it('lets an input and an output share a name', () => {
    const file = graph(
      [start, node('a', 'GraphInput', { name: 'x' }), node('o', 'GraphOutput', { name: 'x' })],
      ['s => a', 'a.value -> o.value'],
    );
    expect(contractOf(file).issues).toEqual([]);
  });
});

describe('parseDefault', () => {
  it.each<[GraphInputType, unknown, unknown]>([
    ['string', '', ''],
    ['string', '12', '12'],
    ['number', '-1.5e3', -1500],
    ['number', '', null],
    ['integer', '3', 3],
    ['integer', '3.0', 3],
    ['boolean', 'True', true],
    ['boolean', 'false', false],
    ['json', '{"a": [1]}', { a: [1] }],
    ['image', 'cat.png', 'cat.png'],
    ['number', null, null],
  ])('%s from %j is %j', (type, text, value) => {
    expect(parseDefault(text, type)).toEqual({ value });
  });

  it.each<[GraphInputType, unknown]>([
    ['number', 'x'],
    ['number', 'Infinity'],
    ['integer', '1.5'],
    ['boolean', '1'],
    ['json', '{'],
    ['string', 3],
  ])('%s from %j is a problem', (type, text) => {
    expect(parseDefault(text, type)).toHaveProperty('problem');
  });
});

describe('coerceInputs', () => {
  const contract = (type: GraphInputType, required = true): GraphContract => ({
    inputs: [{ name: 'x', type, required, default: null, description: '', node_id: 'in' }],
    outputs: [],
  });

  it.each<[GraphInputType, unknown]>([
    ['string', ''],
    ['number', 1.5],
    ['number', -3],
    ['integer', 3.0],
    ['boolean', false],
    ['json', null],
    ['json', [1, { a: 'b' }]],
    ['image', 'iVBORw0KGgo='],
    ['image', 'data:image/png;base64,iVBORw0KGgo='],
  ])('takes for %s the value %j', (type, value) => {
    expect(coerceInputs(contract(type), { x: value })).toEqual({ values: { x: value }, issues: [] });
  });

  it.each<[GraphInputType, unknown]>([
    ['string', 1],
    ['string', null],
    ['number', '1'],
    ['number', true],
    ['number', NaN],
    ['integer', 1.5],
    ['integer', '3'],
    ['integer', false],
    ['boolean', 1],
    ['boolean', 'true'],
    ['image', ''],
    ['image', 'not base64!'],
    ['image', 'data:text/plain;base64,AAAA'],
    ['image', [0]],
  ])('refuses for %s the value %j', (type, value) => {
    expect(coerceInputs(contract(type), { x: value })).toMatchObject({
      values: {},
      issues: [{ code: 'invalid_input', node_id: 'in', params: { input: 'x' } }],
    });
  });

  it('asks for required values, leaves out optional ones, refuses unknown names', () => {
    expect(coerceInputs(contract('number'), {}).issues).toMatchObject([{ code: 'invalid_input' }]);
    expect(coerceInputs(contract('number', false), {})).toEqual({ values: {}, issues: [] });
    expect(coerceInputs(contract('number'), { x: 1, z: 2 }).issues).toMatchObject([{ params: { input: 'z' } }]);
    expect(coerceInputs(contract('number', false), JSON.parse('{"__proto__": {"x": 5}}')).values).toEqual({});
    expect(coerceInputs(contract('number'), [1]).issues).toMatchObject([{ code: 'invalid_input' }]);
  });
});

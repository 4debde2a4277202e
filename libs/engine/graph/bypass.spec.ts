import * as fc from 'fast-check';
import type { GraphFile } from '@cdui/protocol';
import { planGraph } from './plan';
import { graph, node, subgraph } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';

const options = { registry: sampleRegistry(), presets: samplePresets() };
const off = (id: string, type: string) => node(id, type, {}, { bypassed: true });
const start = node('s', 'Start');

function wiring(file: GraphFile) {
  const result = planGraph(file, options);
  if ('issues' in result) return result.issues.map((issue) => [issue.code, issue.node_id]);
  return Object.fromEntries(
    result.plan.nodes.map((planned) => [
      planned.id,
      Object.entries(planned.inputs).map(([port, from]) => `${port}=${from.node}.${from.port}`),
    ]),
  );
}

it('joins what comes in to what goes out', () => {
  const file = graph(
    [start, node('a', 'Source'), off('b', 'Layer'), node('c', 'Layer')],
    ['s => a', 'a.tensor -> b.tensor', 'b.tensor -> c.tensor'],
  );
  expect(wiring(file)).toEqual({ s: [], a: [], c: ['tensor=a.tensor'] });
});

it('collapses chains', () => {
  const file = graph(
    [start, node('a', 'Source'), off('b', 'Layer'), off('c', 'Join'), off('d', 'Print'), node('e', 'Layer')],
    ['s => a', 'a.tensor -> b.tensor', 'b.tensor -> c.a', 'c.tensor -> d.value', 'd.value -> e.tensor'],
  );
  expect(wiring(file)).toEqual({ s: [], a: [], e: ['tensor=a.tensor'] });
});

it('forwards the first input of a fitting type, per output', () => {
  const lines = [
    's => e',
    'm.model -> t.model',
    'r.data -> t.data',
    't.model -> t2.model',
    'r.data -> t2.data',
    'e.tensor -> f.value',
    't2.model -> g.value',
  ];
  const file = graph(
    [
      start,
      node('m', 'Model'),
      node('r', 'Rows'),
      off('t', 'Train'),
      node('t2', 'Train'),
      node('e', 'Source'),
      node('f', 'Print'),
      node('g', 'Print'),
    ],
    [...lines, 's => t2'],
  );
  expect(wiring(file)).toMatchObject({ t2: ['data=r.data', 'model=m.model'].reverse() });
  // `losses` is a tensor: only the optional ANY input can stand for it.
  const losses = graph(
    [start, node('m', 'Model'), node('r', 'Rows'), off('t', 'Train'), node('x', 'Source'), node('f', 'Print')],
    ['s => f', 'm.model -> t.model', 'r.data -> t.data', 'x.tensor -> t.extra', 't.losses -> f.value'],
  );
  expect(wiring(losses)).toMatchObject({ f: ['value=x.tensor'] });
});

it('takes the first declared input even when only a later one is connected', () => {
  const file = graph(
    [start, node('a', 'Source'), off('j', 'Join'), node('c', 'Layer')],
    ['s => a', 'a.tensor -> j.b', 'j.tensor -> c.tensor'],
  );
  const result = planGraph(file, options);
  expect(result).toMatchObject({ issues: [{ code: 'missing_input', node_id: 'c', params: { bypassed: 'j' } }] });
  expect('issues' in result && result.issues[0]?.message).toContain('bypassed node "j"');
});

it('names the node of a chain whose input is not connected, not those that it comes through', () => {
  const file = graph(
    [start, off('a', 'Layer'), off('b', 'Layer'), node('c', 'Layer'), node('d', 'Layer')],
    ['s => a', 'a.tensor -> b.tensor', 'b.tensor -> c.tensor', 'b.tensor -> d.tensor'],
  );
  const result = planGraph(file, options);
  expect('issues' in result && result.issues.map(({ node_id, params }) => [node_id, params['bypassed']])).toEqual([
    ['c', 'a'],
    ['d', 'a'],
  ]);
});

it('drops an edge into an optional input without a word', () => {
  const file = graph(
    [start, node('a', 'Source'), off('l', 'Layer'), node('j', 'Join')],
    ['s => a', 'a.tensor -> j.a', 'l.tensor -> j.b'],
  );
  expect(wiring(file)).toEqual({ s: [], a: [], j: ['a=a.tensor'] });
});

it('is refused when no input fits an output in use', () => {
  const file = graph([start, off('a', 'Source'), node('l', 'Layer')], ['s => l', 'a.tensor -> l.tensor']);
  expect(wiring(file)).toEqual([
    ['bypass_no_match', 'a'],
    ['missing_input', 'l'],
  ]);
  expect(wiring(graph([start, node('x', 'Source'), off('a', 'Source')], ['s => x', 's => a']))).toEqual({
    s: [],
    x: [],
  });
});

it.each([
  ['a preset', node('p', 'preset:Two Layers', {}, { bypassed: true })],
  ['a subgraph block', node('p', 'subgraph:g', {}, { bypassed: true })],
  ['GraphInput', node('p', 'GraphInput', {}, { bypassed: true })],
  ['GraphOutput', node('p', 'GraphOutput', {}, { bypassed: true })],
])('is refused on %s', (_what, bypassed) => {
  const file = graph(
    [start, node('a', 'Source'), bypassed],
    ['s => a', 's => p', 'a.tensor -> p.tensor', 'a.tensor -> p.value'],
    {
      subgraphs: [subgraph('g', [node('l', 'Layer')], [], { inputs: ['tensor: l.tensor', 'value: l.tensor'] })],
    },
  );
  expect(wiring(file)).toContainEqual(['bypass_not_allowed', 'p']);
});

it('leaves an unknown type in place', () => {
  expect(wiring(graph([start, off('a', 'Nonsense')], ['s => a']))).toEqual([['unknown_node_type', 'a']]);
});

it('moves triggers to the first nodes downstream that stay', () => {
  const file = graph(
    [start, off('a', 'Print'), off('b', 'Print'), node('c', 'Chat'), node('d', 'Chat'), node('draft', 'Source')],
    ['s => a', 'a.value -> b.value', 'b.value -> c.prompt', 'a.value -> d.prompt'],
  );
  expect(wiring(file)).toEqual({ s: [], c: [], d: [] });
  expect(wiring(graph([start, off('a', 'Print')], ['s => a']))).toEqual([['no_entry_points', null]]);
});

it('works inside blocks', () => {
  const file = graph(
    [start, node('a', 'Source'), node('g', 'subgraph:g'), node('c', 'Print')],
    ['s => a', 'a.tensor -> g.x', 'g.y -> c.value'],
    {
      subgraphs: [subgraph('g', [off('l', 'Layer')], [], { inputs: ['x: l.tensor'], outputs: ['y: l.tensor'] })],
    },
  );
  expect(wiring(file)).toEqual({ s: [], a: [], c: ['value=a.tensor'] });
});

it('survives rings of bypassed nodes', () => {
  const file = graph(
    [start, off('a', 'Layer'), off('b', 'Layer'), node('c', 'Layer')],
    ['s => c', 'a.tensor -> b.tensor', 'b.tensor -> a.tensor', 'b.tensor -> c.tensor'],
  );
  expect(wiring(file)).toEqual([['missing_input', 'c']]);
});

it('preserves the flow of data: whatever is bypassed in a chain, each layer that stays is fed by the one before it that stays', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), (flags) => {
      const layers = flags.map((bypassed, index) =>
        bypassed ? off(`l${index}`, 'Layer') : node(`l${index}`, 'Layer'),
      );
      const ids = ['a', ...layers.map((layer) => layer.id), 'end'];
      const lines = ids
        .slice(1)
        .map((id, index) => `${ids[index]}.tensor -> ${id}.${id === 'end' ? 'value' : 'tensor'}`);
      const result = planGraph(
        graph([start, node('a', 'Source'), ...layers, node('end', 'Print')], ['s => a', ...lines]),
        options,
      );
      const staying = ['a', ...layers.filter((_, index) => !flags[index]).map((layer) => layer.id), 'end'];
      const found =
        'plan' in result
          ? result.plan.nodes.slice(1).map((planned) => [planned.id, Object.values(planned.inputs)[0]?.node])
          : [];
      expect(found).toEqual(staying.map((id, index) => [id, index === 0 ? undefined : staying[index - 1]]));
    }),
  );
});

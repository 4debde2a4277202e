import type { GraphFile } from '@cdui/protocol';
import { catalogView } from './node-types';
import { restoreSecrets, scrubSecrets } from './secrets';
import { graph, node, preset, subgraph } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';

const chat = { id: 'c', type: 'Chat', params: { key: 'preset-key', model: 'm' } };
const catalog = catalogView(sampleRegistry(), samplePresets([preset('Installed', [chat], [])]));

function scrub(file: GraphFile) {
  const before = JSON.stringify(file);
  const scrubbed = scrubSecrets(file, catalog);
  expect(JSON.stringify(file)).toBe(before);
  expect(JSON.stringify(restoreSecrets(scrubbed.graph, scrubbed.secrets))).toBe(before);
  return {
    text: JSON.stringify(scrubbed.graph),
    graph: scrubbed.graph,
    values: scrubbed.secrets.map((secret) => secret.value),
  };
}

it('blanks secrets of nodes, and nothing else', () => {
  const { graph: scrubbed, values } = scrub(
    graph([node('a', 'Chat', { key: 'k1', model: 'm' }), node('b', 'Source', { key: 'kept' })], []),
  );
  expect(scrubbed.nodes.map((item) => item.data?.params)).toEqual([{ key: '', model: 'm' }, { key: 'kept' }]);
  expect(values).toEqual(['k1']);
});

it('blanks internalParams by the installed and by the embedded definition', () => {
  const inner = { internalParams: { c: { key: 'k2', model: 'm' } } };
  expect(scrub(graph([node('p', 'preset:Installed', {}, inner)], [])).values).toEqual(['k2']);
  const harmless = preset('Installed', [{ id: 'c', type: 'Source' }], []);
  expect(scrub(graph([node('p', 'preset:Installed', {}, inner)], [], { presets: [harmless] })).values).toEqual(['k2']);
  const embedded = preset('Mine', [{ ...chat, params: {} }], []);
  expect(scrub(graph([node('p', 'preset:Mine', {}, inner)], [], { presets: [embedded] })).values).toEqual(['k2']);
});

it('blanks embedded presets, subgraphs and defaults of exposed params', () => {
  const definition = {
    name: 'key',
    param_type: 'secret',
    default: 'k5',
    description: '',
    options: [],
    min_value: null,
    max_value: null,
    visible_when: null,
    advanced: false,
  } as const;
  const mine = {
    ...preset('Mine', [chat], []),
    exposed_params: [{ internal_node: 'c', param_name: 'key', param_def: definition }],
  };
  const file = graph([], [], {
    presets: [mine],
    subgraphs: [
      subgraph(
        'g',
        [node('x', 'Chat', { key: 'k4' }), node('y', 'preset:Mine', {}, { internalParams: { c: { key: 'k6' } } })],
        [],
      ),
    ],
  });
  const { text, values } = scrub(file);
  expect([...values].sort()).toEqual(['k4', 'k5', 'k6', 'preset-key']);
  for (const value of values) expect(text).not.toContain(String(value));
});

it('blanks what looks like a secret of a type that is not there', () => {
  expect(scrub(graph([node('x', 'Gone', { openai_api_key: 'k', tokens: 5, password: '' })], [])).values).toEqual(['k']);
});

it('returns a graph without secrets as it is', () => {
  const file = graph([node('a', 'Source')], []);
  expect(scrubSecrets(file, catalog)).toEqual({ graph: file, secrets: [] });
});

it('leaves out secrets whose place is gone', () => {
  const { secrets } = scrubSecrets(graph([node('a', 'Source'), node('b', 'Chat', { key: 'k' })], []), catalog);
  const other = graph([node('a', 'Source')], []);
  expect(restoreSecrets(other, secrets)).toEqual(other);
});

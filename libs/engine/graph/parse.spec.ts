import * as fc from 'fast-check';
import type { GraphFile } from '@cdui/protocol';
import { parseGraph, serialiseGraph } from './parse';
import { featureGraphs } from './testing/feature-graphs';

const codesOf = (value: unknown) => parseGraph(value).issues.map((issue) => issue.code);
const minimal = { nodes: [], edges: [] };

describe('parseGraph', () => {
  it('reads text and JSON values alike, with or without a byte order mark', () => {
    expect(parseGraph('{"nodes": [], "edges": []}')).toEqual({ graph: minimal, issues: [] });
    expect(parseGraph('\uFEFF{"nodes": [], "edges": []}').graph).toEqual(minimal);
    expect(parseGraph(minimal).graph).toBe(minimal);
  });

  it.each([
    ['text that is no JSON', '{"nodes": ['],
    ['a list', []],
    ['null', null],
    ['a number', 7],
    ['no nodes', { edges: [] }],
    ['no edges', { nodes: [] }],
    ['nodes that are no list', { nodes: {}, edges: [] }],
    ['a name that is no text', { ...minimal, name: 3 }],
    ['presets that are no list', { ...minimal, presets: {} }],
    ['a version that is no number', { ...minimal, format_version: 'one' }],
  ])('refuses %s', (_name, value) => {
    const { graph, issues } = parseGraph(value);
    expect(graph).toBeNull();
    expect(issues.map((issue) => issue.code)).toEqual(['not_a_graph']);
  });

  it.each([
    ['a text as node', 'node'],
    ['no id', { type: 'A' }],
    ['an empty id', { id: '', type: 'A' }],
    ['a number as id', { id: 1, type: 'A' }],
    ['no type', { id: 'a' }],
    ['data that is no object', { id: 'a', type: 'A', data: [] }],
    ['params that are a list', { id: 'a', type: 'A', data: { params: [] } }],
    ['internalParams of texts', { id: 'a', type: 'A', data: { internalParams: { inner: 'x' } } }],
    ['bypassed that is no truth value', { id: 'a', type: 'A', data: { bypassed: 'yes' } }],
  ])('refuses a node with %s and names its place', (_name, node) => {
    const { issues } = parseGraph({ nodes: [{ id: 'ok', type: 'A' }, node], edges: [] });
    expect(issues).toMatchObject([{ code: 'malformed_node', params: { where: 'nodes[1]' } }]);
    expect(issues[0]?.message).toContain('nodes[1]');
  });

  it.each([
    ['no object', 3],
    ['no source', { target: 'a' }],
    ['a number as target', { source: 'a', target: 4 }],
    ['a number as handle', { source: 'a', target: 'b', sourceHandle: 1 }],
    ['a list as type', { source: 'a', target: 'b', type: [] }],
  ])('refuses an edge with %s', (_name, edge) => {
    expect(codesOf({ nodes: [], edges: [edge] })).toEqual(['malformed_edge']);
  });

  it('takes absent and null for the optional members of nodes and edges', () => {
    const nodes = [
      { id: 'a', type: 'A', data: null },
      { id: 'b', type: 'B', data: { params: null, internalParams: null, bypassed: null } },
    ];
    const edges = [{ source: 'a', target: 'b', id: null, sourceHandle: null, targetHandle: null, type: null }];
    expect(parseGraph({ nodes, edges, presets: null, settings: null }).issues).toEqual([]);
  });

  it('reports every problem of a file at once', () => {
    const codes = codesOf({ nodes: [1, 2], edges: [3], presets: [4], subgraphs: [5], settings: 6 });
    expect(codes).toEqual([
      'malformed_node',
      'malformed_node',
      'malformed_edge',
      'malformed_preset',
      'malformed_subgraph',
      'invalid_settings',
    ]);
  });

  it.each([
    [{ device: 'tpu' }, 'device'],
    [{ device: 'cuda:-1' }, 'device'],
    [{ device: 3 }, 'device'],
    [{ seed: -1 }, 'seed'],
    [{ seed: 4294967296 }, 'seed'],
    [{ seed: 1.5 }, 'seed'],
    [{ seed: '7' }, 'seed'],
    [{ deterministic: 1 }, 'deterministic'],
  ])('refuses the settings %j', (settings, field) => {
    expect(parseGraph({ ...minimal, settings }).issues).toMatchObject([
      { code: 'invalid_settings', params: { field } },
    ]);
  });

  it.each([{ device: 'cuda:3', seed: 4294967295 }, { seed: null }, { seed: 0, deterministic: false, other: [] }, {}])(
    'accepts the settings %j',
    (settings) => {
      expect(codesOf({ ...minimal, settings })).toEqual([]);
    },
  );

  it.each([
    ['no name', { preset_name: '' }],
    ['an inner node without type', { nodes: [{ id: 'a' }] }],
    [
      'two inputs of one name',
      {
        exposed_inputs: [
          { name: 'x', internal_node: 'a', internal_port: 'p' },
          { name: 'x', internal_node: 'b', internal_port: 'p' },
        ],
      },
    ],
    ['an exposed param without node', { exposed_params: [{ param_name: 'lr' }] }],
  ])('refuses an embedded preset with %s', (_name, wrong) => {
    const preset = {
      preset_name: 'P',
      nodes: [],
      edges: [],
      exposed_inputs: [],
      exposed_outputs: [],
      exposed_params: [],
      ...wrong,
    };
    expect(codesOf({ ...minimal, presets: [preset] })).toEqual(['malformed_preset']);
  });

  it.each([
    ['an empty id', [{ id: '', nodes: [], edges: [] }]],
    ['no nodes', [{ id: 'a' }]],
    [
      'an id of another one',
      [
        { id: 'a', nodes: [] },
        { id: 'a', nodes: [] },
      ],
    ],
    ['trigger targets that are no ids', [{ id: 'a', nodes: [], interface: { triggerTargets: [1] } }]],
    ['a port without inner node', [{ id: 'a', nodes: [], interface: { inputs: [{ port: 'x', innerPort: 'y' }] } }]],
  ])('refuses a subgraph with %s', (_name, subgraphs) => {
    expect(codesOf({ ...minimal, subgraphs })).toEqual(['malformed_subgraph']);
  });

  it('refuses nesting that would overflow whoever recurses, without overflowing', () => {
    const text = `{"nodes": [], "edges": [], "x": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(codesOf(text)).toEqual(['not_a_graph']);
  });

  it('leaves the prototype alone whatever the keys', () => {
    const text =
      '{"nodes": [{"id": "__proto__", "type": "constructor", "data": {"params": {"__proto__": {"polluted": 1}}}}], "edges": [], "__proto__": {"polluted": 1}}';
    expect(parseGraph(text).issues).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('serialiseGraph', () => {
  it.each(featureGraphs.map((graph, index) => [index, graph] as const))(
    'writes feature graph %i as it was read',
    (_index, graph) => {
      const text = serialiseGraph(graph);
      const again = parseGraph(text).graph as GraphFile;
      expect(serialiseGraph(again)).toBe(text);
      expect(again).toEqual(graph);
    },
  );

  it('keeps unknown keys everywhere, in their order', () => {
    const anything = fc.dictionary(
      fc.string().filter((key) => !KNOWN.has(key)),
      fc.jsonValue({ maxDepth: 3 }),
      { maxKeys: 4 },
    );
    fc.assert(
      fc.property(anything, anything, anything, anything, (top, node, data, edge) => {
        const graph = {
          ...top,
          nodes: [{ id: 'a', type: 'A', ...node, data: { params: {}, ...data } }],
          edges: [{ source: 'a', target: 'a', ...edge }],
        };
        const text = JSON.stringify(graph, null, 2);
        expect(serialiseGraph(parseGraph(text).graph as GraphFile)).toBe(`${text}\n`);
      }),
    );
  });
});

const KNOWN = new Set([
  'name',
  'description',
  'nodes',
  'edges',
  'presets',
  'segmentGroups',
  'subgraphs',
  'settings',
  'format_version',
  'id',
  'type',
  'data',
  'params',
  'internalParams',
  'bypassed',
  'source',
  'target',
  'sourceHandle',
  'targetHandle',
]);

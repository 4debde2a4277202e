import type { GraphFile } from '@cdui/protocol';
import { graph, node, preset, subgraph } from './graphs';

const note: GraphFile['nodes'][number] = {
  id: 'note',
  type: 'note',
  data: { noteKind: 'text', noteContent: 'remember', boundToNodeId: 'a', noteWidth: 100 },
};

/** Valid graphs that together use everything a graph file can hold. They are valid with the sample registry and presets. */
export const featureGraphs: readonly GraphFile[] = [
  // The least a file may have.
  {
    nodes: [
      { id: 's', type: 'Start' },
      { id: 'a', type: 'Source' },
    ],
    edges: [{ source: 's', target: 'a', type: 'trigger' }],
  },
  // Every top-level key, a note with an edge, an unknown key at each level, a trigger without handles, a draft.
  {
    ...graph(
      [
        node('s', 'Start'),
        { ...node('a', 'Source', { size: 8, unknown: [1, { deep: null }] }), position: { x: 1.5, y: -2 }, width: 7 },
        node('b', 'Layer', { kind: 'tanh', width: 4 }, { label: 'mine' }),
        node('split', 'Split', { chunks: 3 }),
        node('c', 'Join'),
        node('out', 'Print'),
        node('draft', 'Source'),
        note,
      ],
      [
        's => a',
        'a.tensor -> b.tensor',
        'b.tensor -> split.tensor',
        'split.chunk_2 -> c.a',
        'split.chunk_0 -> c.b',
        'c.tensor -> out.value',
        'note.x -> a.y',
      ],
    ),
    name: 'Everything',
    description: 'All keys',
    presets: [],
    segmentGroups: [{ id: 'g', headNodeId: 'a', tailNodeId: 'c' }],
    subgraphs: [],
    settings: { device: 'cpu', seed: 4294967295, deterministic: true, sweep: { lr: [1, 2] } },
    format_version: 1,
    viewport: { zoom: 0.5 },
  },
  // Presets: installed with overlaid params, embedded over installed, nested, triggered, and one that feeds from outside.
  graph(
    [
      node('s', 'Start'),
      node('a', 'Source'),
      node('p', 'preset:Two Layers', {}, { internalParams: { first: { width: 3 } } }),
      node('q', 'preset:Outer'),
      node('model', 'Model'),
      node('t', 'preset:Pipeline', {}, { internalParams: { train: { epochs: 2 } } }),
      node('out', 'Join'),
    ],
    [
      's => a',
      's => t',
      'a.tensor -> p.tensor',
      'p.tensor -> q.x',
      'model.model -> t.model',
      'q.y -> out.a',
      't.losses -> out.b',
    ],
    {
      presets: [
        preset(
          'Two Layers',
          [
            { id: 'first', type: 'Layer' },
            { id: 'second', type: 'Layer', params: { width: 2 } },
          ],
          ['first.tensor -> second.tensor'],
          {
            inputs: ['tensor: first.tensor'],
            outputs: ['tensor: second.tensor'],
          },
        ),
        preset(
          'Outer',
          [
            { id: 'in', type: 'preset:Two Layers' },
            { id: 'last', type: 'Layer' },
          ],
          ['in.tensor -> last.tensor'],
          {
            inputs: ['x: in.tensor'],
            outputs: ['y: last.tensor'],
          },
        ),
      ],
    },
  ),
  // Subgraphs: two instances, nested ones, a preset inside, trigger targets, an interface node inside.
  graph(
    [
      node('s', 'Start'),
      node('e1', 'subgraph:enc'),
      node('e2', 'subgraph:enc'),
      node('w', 'subgraph:whole'),
      node('out', 'Join'),
    ],
    ['s => w', 'w.y -> e1.x', 'e1.y -> e2.x', 'e2.y -> out.a'],
    {
      subgraphs: [
        subgraph(
          'enc',
          [node('l', 'Layer'), node('m', 'preset:Two Layers'), note],
          ['l.tensor -> m.tensor', 'note.x -> l.y'],
          {
            inputs: ['x: l.tensor'],
            outputs: ['y: m.tensor'],
          },
        ),
        subgraph(
          'whole',
          [node('src', 'Source'), node('inner', 'subgraph:enc'), node('in', 'GraphInput')],
          ['src.tensor -> inner.x'],
          {
            outputs: ['y: inner.y'],
            triggers: ['src'],
          },
        ),
      ],
    },
  ),
  // Bypass: a chain, a triggered node, one in a subgraph, an unused second input.
  graph(
    [
      node('s', 'Start'),
      node('a', 'Source'),
      node('b', 'Layer', {}, { bypassed: true }),
      node('c', 'Join', {}, { bypassed: true }),
      node('d', 'Layer'),
      node('g', 'subgraph:g'),
      node('first', 'Print', {}, { bypassed: true }),
      node('text', 'Chat', { key: 'k', model: 'm' }),
    ],
    [
      's => a',
      's => first',
      'a.tensor -> b.tensor',
      'b.tensor -> c.a',
      'c.tensor -> d.tensor',
      'd.tensor -> g.x',
      'first.value -> text.prompt',
    ],
    {
      subgraphs: [
        subgraph('g', [node('x', 'Layer', {}, { bypassed: true }), node('y', 'Layer')], ['x.tensor -> y.tensor'], {
          inputs: ['x: x.tensor'],
          outputs: ['y: y.tensor'],
        }),
      ],
    },
  ),
  // A graph as a function, with rescued producers.
  graph(
    [
      node('s', 'Start'),
      node('in', 'GraphInput', { name: 'x', type: 'number', required: false, default: '2.5' }),
      node('flag', 'GraphInput', { name: 'flag', type: 'boolean' }),
      node('rows', 'Rows'),
      node('model', 'Model'),
      node('t', 'Train', { epochs: 3 }),
      node('out', 'GraphOutput', { name: 'loss' }),
    ],
    [
      's => in',
      's => flag',
      's => t',
      'rows.data -> t.data',
      'model.model -> t.model',
      'in.value -> t.extra',
      't.losses -> out.value',
    ],
  ),
];

import * as fc from 'fast-check';
import type { GraphFile } from '@cdui/protocol';
import type { Plan } from '../plan-types';
import { catalogView } from './node-types';
import { planGraph } from './plan';
import { graph, node, preset, subgraph } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';
import { validateGraph } from './validate';

const options = { registry: sampleRegistry(), presets: samplePresets() };
const start = node('s', 'Start');

function planOf(file: GraphFile, more: { only?: readonly string[]; inputs?: Record<string, unknown> } = {}): Plan {
  const result = planGraph(file, { ...options, ...more });
  if ('issues' in result) throw new Error(result.issues.map((issue) => issue.message).join('; '));
  return result.plan;
}

const idsOf = (plan: Plan) => plan.nodes.map((planned) => planned.id);

describe('planned nodes', () => {
  it('carry params with defaults, where each input comes from, and where they stand in the file', () => {
    const plan = planOf(
      graph(
        [start, node('a', 'Source', { size: 2, own: 1 }), node('p', 'preset:Two Layers')],
        ['s => a', 'a.tensor -> p.tensor'],
      ),
    );
    expect(plan.nodes.slice(1)).toEqual([
      {
        id: 'a',
        type: 'Source',
        params: { size: 2, scale: 1, own: 1 },
        origin: { nodeId: 'a', innerId: null },
        inputs: {},
      },
      {
        id: 'p__first',
        type: 'Layer',
        params: { kind: 'relu', width: 16, seed: null },
        origin: { nodeId: 'p', innerId: 'first' },
        inputs: { tensor: { node: 'a', port: 'tensor' } },
      },
      {
        id: 'p__second',
        type: 'Layer',
        params: { kind: 'relu', width: 8, seed: null },
        origin: { nodeId: 'p', innerId: 'second' },
        inputs: { tensor: { node: 'p__first', port: 'tensor' } },
      },
    ]);
    expect(plan.containers).toEqual({ p: ['p__first', 'p__second'] });
  });

  it('of nested blocks belong to the outermost one', () => {
    const inner = subgraph('in', [node('l', 'Source'), node('p', 'preset:Two Layers')], ['l.tensor -> p.tensor']);
    const outer = subgraph('out', [node('i', 'subgraph:in')], []);
    const plan = planOf(graph([start, node('o', 'subgraph:out')], ['s => o'], { subgraphs: [inner, outer] }));
    expect(plan.nodes.map((planned) => planned.origin)).toEqual([
      { nodeId: 's', innerId: null },
      { nodeId: 'o', innerId: 'i/l' },
      { nodeId: 'o', innerId: 'i/p__first' },
      { nodeId: 'o', innerId: 'i/p__second' },
    ]);
    expect(plan.containers).toEqual({ o: ['o/i/l', 'o/i/p__first', 'o/i/p__second'] });
  });
});

describe('the executable set', () => {
  it('is what entry points reach, what feeds it, and nothing else', () => {
    const file = graph(
      [
        start,
        node('a', 'Source'),
        node('b', 'Layer'),
        node('rows', 'Rows'),
        node('model', 'Model'),
        node('t', 'Train'),
        node('side', 'Print'),
        node('lone', 'Layer'),
      ],
      [
        's => a',
        's => t',
        'a.tensor -> b.tensor',
        'rows.data -> t.data',
        'model.model -> t.model',
        'rows.data -> side.value',
      ],
    );
    const plan = planOf(file);
    expect(idsOf(plan)).toEqual(['s', 'a', 'b', 'rows', 'model', 't']);
    expect(plan.drafts).toEqual(['side', 'lone']);
  });

  it('rescues producers of optional inputs, and their producers', () => {
    const file = graph(
      [start, node('a', 'Source'), node('x', 'Source'), node('y', 'Layer'), node('j', 'Join')],
      ['s => a', 'a.tensor -> j.a', 'x.tensor -> y.tensor', 'y.tensor -> j.b'],
    );
    expect(idsOf(planOf(file))).toEqual(['s', 'a', 'x', 'y', 'j']);
  });

  it('is reached over edges that a later one into the same input replaces', () => {
    const file = graph(
      [start, node('a', 'Source'), node('b', 'Source'), node('c', 'Layer'), node('d', 'Layer')],
      ['s => a', 'a.tensor -> c.tensor', 'b.tensor -> c.tensor', 'c.tensor -> d.tensor'],
    );
    const plan = planOf(file);
    expect(idsOf(plan)).toEqual(['s', 'a', 'b', 'c', 'd']);
    expect(plan.nodes[3]?.inputs).toEqual({ tensor: { node: 'b', port: 'tensor' } });
    const { valid, warnings } = validateGraph(file, catalogView(options.registry, options.presets));
    expect([valid, warnings.map(({ code }) => code)]).toEqual([true, ['duplicate_input_edge']]);
  });

  it('rescues a producer with the whole of its outermost block', () => {
    const block = subgraph(
      'g',
      [node('x', 'Source'), node('other', 'Source'), node('p', 'preset:Two Layers')],
      ['x.tensor -> p.tensor'],
      { outputs: ['y: x.tensor'] },
    );
    const file = graph(
      [start, node('a', 'Source'), node('g', 'subgraph:g'), node('j', 'Join')],
      ['s => a', 'a.tensor -> j.a', 'g.y -> j.b'],
      { subgraphs: [block] },
    );
    expect(idsOf(planOf(file))).toEqual(['s', 'a', 'g/x', 'g/other', 'g/p__first', 'g/p__second', 'j']);
  });

  it('holds a preset whole, a subgraph in the parts that are reached', () => {
    const two = [
      { id: 'l', type: 'Layer' },
      { id: 'free', type: 'Source' },
    ];
    const file = graph(
      [start, node('a', 'Source'), node('p', 'preset:P'), node('g', 'subgraph:g')],
      ['s => a', 'a.tensor -> p.x', 'a.tensor -> g.x'],
      {
        presets: [preset('P', two, [], { inputs: ['x: l.tensor'] })],
        subgraphs: [
          subgraph(
            'g',
            two.map(({ id, type }) => node(id, type)),
            [],
            { inputs: ['x: l.tensor'] },
          ),
        ],
      },
    );
    expect(idsOf(planOf(file))).toEqual(['s', 'a', 'p__l', 'p__free', 'g/l']);
  });

  it('does not check drafts: types, inputs, params, cycles, blocks, bypass', () => {
    const file = graph(
      [
        start,
        node('a', 'Source'),
        node('w', 'What'),
        node('l', 'Layer', { width: -1 }),
        node('c', 'Layer'),
        node('d', 'Layer'),
        node('p', 'preset:None'),
        node('g', 'subgraph:none'),
        node('x', 'Source', {}, { bypassed: true }),
        node('y', 'Layer'),
      ],
      ['s => a', 'c.tensor -> d.tensor', 'd.tensor -> c.tensor', 'x.tensor -> y.tensor', 'a.tensor -> a2.x'],
    );
    expect(idsOf(planOf({ ...file, edges: file.edges.slice(0, 4) }))).toEqual(['s', 'a']);
    const reached = planGraph(
      graph([start, node('p', 'preset:None'), node('l', 'Layer')], ['s => l', 'p.y -> l.tensor']),
      options,
    );
    expect(reached).toMatchObject({ issues: [{ code: 'unknown_preset', node_id: 'p' }] });
  });

  it('reports an unknown port of a draft block that should feed a node that runs', () => {
    const file = graph(
      [start, node('p', 'preset:Two Layers'), node('j', 'Join'), node('a', 'Source')],
      ['s => a', 'a.tensor -> j.a', 'p.nope -> j.b'],
    );
    expect(planGraph(file, options)).toMatchObject({ issues: [{ code: 'unknown_output_port', node_id: 'p' }] });
  });
});

describe('the order', () => {
  it('is topological, ties by file order', () => {
    const file = graph(
      [node('c', 'Join'), node('b', 'Source'), node('s', 'Start'), node('a', 'Source'), node('d', 'Layer')],
      ['s => b', 's => a', 'a.tensor -> c.a', 'b.tensor -> c.b', 'b.tensor -> d.tensor'],
    );
    expect(idsOf(planOf(file))).toEqual(['b', 's', 'a', 'c', 'd']);
  });

  it('is so for any acyclic graph', () => {
    const arbitrary = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(arbitrary, fc.infiniteStream(fc.nat(1000)), (producers, ranks) => {
        const ids = producers.map((_, index) => `n${index}`);
        const lines = producers.flatMap(([a, b], index) =>
          index === 0 ? [] : [`n${a % index}.tensor -> n${index}.a`, `n${b % index}.tensor -> n${index}.b`],
        );
        const nodes = ids.map((id, index) => ({
          rank: ranks.next().value as number,
          node: node(id, index === 0 ? 'Source' : 'Join'),
        }));
        const shuffled = [...nodes].sort((x, y) => x.rank - y.rank).map((entry) => entry.node);
        const order = idsOf(planOf(graph([start, ...shuffled], ['s => n0', ...lines])));
        const position = new Map(order.map((id, index) => [id, index]));
        const fileOrder = new Map(['s', ...shuffled.map((entry) => entry.id)].map((id, index) => [id, index]));
        const inputs = new Map(
          ids.map((id, index) => [id, index === 0 ? [] : (producers[index] as number[]).map((p) => `n${p % index}`)]),
        );
        for (const [index, id] of order.entries()) {
          for (const producer of inputs.get(id) ?? []) expect(position.get(producer) as number).toBeLessThan(index);
          const next = order[index + 1];
          // A node that comes earlier in the file waits only for what it needs.
          if (next !== undefined && (fileOrder.get(next) as number) < (fileOrder.get(id) as number))
            expect(inputs.get(next)).toContain(id);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('restricted plans', () => {
  const file = graph(
    [
      start,
      node('a', 'Source'),
      node('p', 'preset:Two Layers'),
      node('b', 'Print'),
      node('c', 'Print'),
      node('draft', 'Source'),
    ],
    ['s => a', 'a.tensor -> p.tensor', 'p.tensor -> b.value', 'a.tensor -> c.value'],
  );

  it('hold the named nodes and what they depend on', () => {
    expect(idsOf(planOf(file, { only: ['c'] }))).toEqual(['a', 'c']);
    expect(idsOf(planOf(file, { only: ['p'] }))).toEqual(['a', 'p__first', 'p__second']);
    expect(idsOf(planOf(file, { only: ['p__first', 'c'] }))).toEqual(['a', 'p__first', 'c']);
    expect(planOf(file, { only: ['c'] }).drafts).toEqual(['s', 'p', 'b', 'draft']);
  });

  it('refuse names that do not run', () => {
    expect(planGraph(file, { ...options, only: ['c', 'draft', 'ghost'] })).toMatchObject({
      issues: [
        { code: 'unknown_node', node_id: 'draft' },
        { code: 'unknown_node', node_id: 'ghost' },
      ],
    });
  });
});

describe('values from a caller', () => {
  const file = graph(
    [
      start,
      node('in', 'GraphInput', { name: 'x', type: 'number' }),
      node('opt', 'GraphInput', { name: 'y', required: false, default: 'd' }),
      node('out', 'GraphOutput'),
    ],
    ['s => in', 's => opt', 'in.value -> out.value'],
  );

  it('reach their GraphInput as the hidden param "value"', () => {
    const plan = planOf(file, { inputs: { x: 3 } });
    expect(plan.nodes.find((planned) => planned.id === 'in')?.params).toMatchObject({ name: 'x', value: 3 });
    expect(plan.nodes.find((planned) => planned.id === 'opt')?.params).not.toHaveProperty('value');
  });

  it('are checked', () => {
    expect(planGraph(file, { ...options, inputs: { x: '3' } })).toMatchObject({
      issues: [{ code: 'invalid_input', node_id: 'in' }],
    });
  });
});

it('plans 10,000 nodes', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
  const lines = ids
    .slice(1)
    .flatMap((id, index) => [`n${index}.tensor -> ${id}.a`, `n${Math.floor(index / 2)}.tensor -> ${id}.b`]);
  const big = graph(
    [start, ...ids.map((id, index) => node(id, index === 0 ? 'Source' : 'Join'))],
    ['s => n0', ...lines],
  );
  expect(planOf(big).nodes).toHaveLength(10_001);
});

it('keeps hostile ids and keys apart from prototypes', () => {
  const file = JSON.parse(
    '{"nodes": [{"id": "s", "type": "Start"}, {"id": "__proto__", "type": "Source", "data": {"params": {"__proto__": 1, "constructor": 2}}}, {"id": "constructor", "type": "preset:Two Layers", "data": {"internalParams": {"__proto__": {"a": 1}}}}, {"id": "bad", "type": "toString"}], "edges": [{"source": "s", "target": "__proto__", "type": "trigger"}, {"source": "__proto__", "sourceHandle": "tensor", "target": "constructor", "targetHandle": "tensor"}]}',
  ) as GraphFile;
  const plan = planOf(file);
  expect(idsOf(plan)).toEqual(['s', '__proto__', 'constructor__first', 'constructor__second']);
  expect(Object.keys(plan.containers)).toEqual(['constructor']);
});

import type { GraphFile, GraphNode } from '@cdui/protocol';
import { expandGraph } from './expand';
import { graph, node, preset, subgraph } from './testing/graphs';
import { samplePresets } from './testing/sample-registry';

const presets = samplePresets();

function expanded(file: GraphFile) {
  const { graph: opened, issues } = expandGraph(file, presets);
  return {
    ids: opened?.nodes.map((inner) => inner.id) ?? [],
    params: Object.fromEntries(opened?.nodes.map((inner) => [inner.id, inner.data?.params]) ?? []),
    data:
      opened?.edges
        .filter((edge) => edge.type !== 'trigger')
        .map((edge) => `${edge.source}.${edge.sourceHandle} -> ${edge.target}.${edge.targetHandle}`) ?? [],
    triggers:
      opened?.edges
        .filter((edge) => edge.type === 'trigger')
        .map((edge) => `${edge.id}: ${edge.source} => ${edge.target}`) ?? [],
    codes: issues.map((issue) => issue.code),
    issues,
  };
}

describe('notes', () => {
  it('are dropped with every edge that touches them, at each level', () => {
    const note: GraphNode = { id: 'n', type: 'note' };
    const result = expanded(
      graph([note, node('a', 'Source'), node('g', 'subgraph:g')], ['n.x -> a.y', 'a.x -> n.y', 'n => a'], {
        subgraphs: [subgraph('g', [node('b', 'Source'), note], ['n.x -> b.y'])],
      }),
    );
    expect(result).toMatchObject({ ids: ['a', 'g/b'], data: [], triggers: [], codes: [] });
  });
});

describe('presets', () => {
  it('take the place of their instance, with prefixed ids and rewritten edges', () => {
    const result = expanded(
      graph(
        [node('a', 'Source'), node('p', 'preset:Two Layers'), node('b', 'Print')],
        ['a.tensor -> p.tensor', 'p.tensor -> b.value'],
      ),
    );
    expect(result.ids).toEqual(['a', 'p__first', 'p__second', 'b']);
    expect(result.data).toEqual([
      'p__first.tensor -> p__second.tensor',
      'a.tensor -> p__first.tensor',
      'p__second.tensor -> b.value',
    ]);
  });

  it('overlay inner params with those of the instance', () => {
    const file = graph(
      [
        node(
          'p',
          'preset:Two Layers',
          {},
          { internalParams: { first: { kind: 'tanh' }, second: { width: 1 }, nobody: { x: 1 } } },
        ),
      ],
      [],
    );
    expect(expanded(file).params).toEqual({ p__first: { width: 16, kind: 'tanh' }, p__second: { width: 1 } });
  });

  it('come from the file before they come from the installation', () => {
    const own = preset('Two Layers', [{ id: 'only', type: 'Layer' }], []);
    expect(expanded(graph([node('p', 'preset:Two Layers')], [], { presets: [own] })).ids).toEqual(['p__only']);
  });

  it('nest, with their ports led through', () => {
    const outer = preset('Outer', [{ id: 'in', type: 'preset:Two Layers' }], [], {
      inputs: ['x: in.tensor'],
      outputs: ['y: in.tensor'],
    });
    const result = expanded(
      graph(
        [node('a', 'Source'), node('p', 'preset:Outer'), node('b', 'Print')],
        ['a.tensor -> p.x', 'p.y -> b.value'],
        { presets: [outer] },
      ),
    );
    expect(result.ids).toEqual(['a', 'p__in__first', 'p__in__second', 'b']);
    expect(result.data).toEqual([
      'p__in__first.tensor -> p__in__second.tensor',
      'a.tensor -> p__in__first.tensor',
      'p__in__second.tensor -> b.value',
    ]);
  });

  it('pass a trigger on to their roots, with numbered ids', () => {
    const wide = preset(
      'Wide',
      [
        { id: 'a', type: 'Source' },
        { id: 'b', type: 'Layer' },
        { id: 'c', type: 'preset:Two Layers' },
      ],
      ['a.tensor -> b.tensor'],
    );
    const result = expanded(graph([node('s', 'Start'), node('p', 'preset:Wide')], ['s => p'], { presets: [wide] }));
    expect(result.triggers).toEqual(['e0#0: s => p__a', 'e0#1#0: s => p__c__first']);
  });

  it('may nest ten deep, not eleven', () => {
    const nest = (levels: number) =>
      Array.from({ length: levels }, (_, i) =>
        preset(`P${i}`, [i === levels - 1 ? { id: 'x', type: 'Source' } : { id: 'x', type: `preset:P${i + 1}` }], []),
      );
    expect(expanded(graph([node('p', 'preset:P0')], [], { presets: nest(10) }))).toMatchObject({
      ids: [`p${'__x'.repeat(10)}`],
      codes: [],
    });
    expect(expanded(graph([node('p', 'preset:P0')], [], { presets: nest(11) })).codes).toEqual(['preset_too_deep']);
  });

  it('must not contain themselves or subgraph blocks', () => {
    const self = preset('Self', [{ id: 'x', type: 'preset:Self' }], []);
    expect(expanded(graph([node('p', 'preset:Self')], [], { presets: [self] })).codes).toEqual(['preset_too_deep']);
    const block = preset('Block', [{ id: 'x', type: 'subgraph:g' }], []);
    expect(
      expanded(graph([node('p', 'preset:Block')], [], { presets: [block], subgraphs: [subgraph('g', [], [])] })).codes,
    ).toEqual(['malformed_preset']);
  });

  it('are reported when unknown, when a port does not exist, and when they lead nowhere', () => {
    expect(expanded(graph([node('p', 'preset:Nope')], [])).issues).toMatchObject([
      { code: 'unknown_preset', node_id: 'p', params: { preset: 'Nope' } },
    ]);
    const ports = expanded(
      graph([node('a', 'Source'), node('p', 'preset:Two Layers')], ['a.tensor -> p.nope', 'p.no -> a.x']),
    );
    expect(ports.issues).toMatchObject([
      { code: 'unknown_input_port', node_id: 'p', params: { port: 'nope' } },
      { code: 'unknown_output_port', node_id: 'p', params: { port: 'no' } },
    ]);
    const broken = preset('Broken', [], [], { inputs: ['x: ghost.y'] });
    expect(expanded(graph([node('p', 'preset:Broken')], [], { presets: [broken] })).codes).toEqual([
      'malformed_preset',
    ]);
  });
});

describe('subgraphs', () => {
  const enc = subgraph('enc', [node('l', 'Layer'), node('m', 'Layer')], ['l.tensor -> m.tensor'], {
    inputs: ['x: l.tensor'],
    outputs: ['y: m.tensor'],
  });

  it('open under instance/inner, each instance for itself, edges included', () => {
    const file = graph(
      [node('a', 'Source'), node('e', 'subgraph:enc'), node('f', 'subgraph:enc')],
      ['a.tensor -> e.x', 'e.y -> f.x'],
      { subgraphs: [enc] },
    );
    expect(expanded(file)).toMatchObject({
      ids: ['a', 'e/l', 'e/m', 'f/l', 'f/m'],
      data: [
        'e/l.tensor -> e/m.tensor',
        'f/l.tensor -> f/m.tensor',
        'a.tensor -> e/l.tensor',
        'e/m.tensor -> f/l.tensor',
      ],
    });
    expect(expandGraph(file, presets).graph?.edges[0]?.id).toBe('e/e0');
  });

  it('open before presets and may hold them and each other', () => {
    const outer = subgraph(
      'outer',
      [node('in', 'subgraph:enc'), node('p', 'preset:Two Layers')],
      ['in.y -> p.tensor'],
      { inputs: ['x: in.x'], outputs: ['y: p.tensor'] },
    );
    const file = graph([node('o', 'subgraph:outer')], [], { subgraphs: [enc, outer] });
    expect(expanded(file)).toMatchObject({
      ids: ['o/in/l', 'o/in/m', 'o/p__first', 'o/p__second'],
      data: [
        'o/in/l.tensor -> o/in/m.tensor',
        'o/p__first.tensor -> o/p__second.tensor',
        'o/in/m.tensor -> o/p__first.tensor',
      ],
    });
  });

  it('pass triggers on to their targets, else to their roots', () => {
    const nodes = [node('a', 'Source'), node('b', 'Source'), node('c', 'Layer')];
    const lines = ['a.tensor -> c.tensor'];
    const file = (triggers: readonly string[]) =>
      graph([node('s', 'Start'), node('g', 'subgraph:g')], ['s => g'], {
        subgraphs: [subgraph('g', nodes, lines, { triggers })],
      });
    expect(expanded(file(['c', 'a'])).triggers).toEqual(['e0#0: s => g/c', 'e0#1: s => g/a']);
    expect(expanded(file([])).triggers).toEqual(['e0#0: s => g/a', 'e0#1: s => g/b']);
  });

  it('refuse a trigger when they are empty', () => {
    const file = graph([node('s', 'Start'), node('g', 'subgraph:g')], ['s => g'], {
      subgraphs: [subgraph('g', [], [])],
    });
    expect(expanded(file).issues).toMatchObject([{ code: 'empty_trigger_block', node_id: 'g' }]);
  });

  it('report unknown definitions, ports, targets and inner nodes', () => {
    const odd = subgraph('odd', [node('l', 'Layer')], [], { inputs: ['x: ghost.y'], triggers: ['nobody'] });
    const file = graph(
      [node('a', 'Source'), node('e', 'subgraph:enc'), node('u', 'subgraph:none'), node('o', 'subgraph:odd')],
      ['a.tensor -> e.z', 'e.w -> a.q'],
      { subgraphs: [enc, odd] },
    );
    expect(expanded(file).issues).toMatchObject([
      { code: 'unknown_subgraph', node_id: 'u' },
      { code: 'malformed_subgraph', node_id: 'o', params: { inner: 'ghost' } },
      { code: 'unknown_trigger_target', node_id: 'o', params: { target: 'nobody' } },
      { code: 'unknown_boundary_port', node_id: 'e', params: { port: 'z' } },
      { code: 'unknown_boundary_port', node_id: 'e', params: { port: 'w' } },
    ]);
  });

  it('report recursion, direct and not, only where an instance reaches it', () => {
    const a = subgraph('a', [node('x', 'subgraph:b')], []);
    const b = subgraph('b', [node('y', 'subgraph:a')], []);
    const unused = expanded(graph([node('s', 'Source')], [], { subgraphs: [a, b] }));
    expect(unused.codes).toEqual([]);
    const used = expanded(graph([node('g', 'subgraph:a')], [], { subgraphs: [a, b] }));
    expect(used.issues).toMatchObject([
      { code: 'subgraph_recursion', node_id: 'g', params: { path: ['a', 'b', 'a'] } },
    ]);
    expect(used.issues[0]?.message).toContain('a -> b -> a');
  });

  it('may nest ten deep, not eleven', () => {
    const nest = (levels: number) =>
      Array.from({ length: levels }, (_, i) =>
        subgraph(`g${i}`, [i === levels - 1 ? node('x', 'Source') : node('x', `subgraph:g${i + 1}`)], []),
      );
    expect(expanded(graph([node('i', 'subgraph:g0')], [], { subgraphs: nest(10) }))).toMatchObject({
      ids: [`i${'/x'.repeat(10)}`],
      codes: [],
    });
    expect(expanded(graph([node('i', 'subgraph:g0')], [], { subgraphs: nest(11) })).codes).toEqual([
      'subgraph_too_deep',
    ]);
  });

  it('report equal ids before and after opening', () => {
    expect(expanded(graph([node('a', 'Source'), node('a', 'Layer')], [])).issues).toMatchObject([
      { code: 'duplicate_node_id', node_id: 'a' },
    ]);
    const clash = graph([node('g/x', 'Source'), node('g', 'subgraph:g')], [], {
      subgraphs: [subgraph('g', [node('x', 'Source')], [])],
    });
    expect(expanded(clash).codes).toEqual(['duplicate_node_id']);
    const inside = graph([node('g', 'subgraph:g')], [], {
      subgraphs: [subgraph('g', [node('x', 'Source'), node('x', 'Source')], [])],
    });
    expect(expanded(inside).issues).toMatchObject([{ code: 'duplicate_node_id', node_id: 'g' }]);
    const twice = graph([node('g', 'subgraph:g'), node('g', 'subgraph:g')], [], {
      subgraphs: [subgraph('g', [node('x', 'Source')], [])],
    });
    expect(expanded(twice).codes).toEqual(['duplicate_node_id']);
  });
});

it('stops at definitions that multiply each other', () => {
  const bomb = Array.from({ length: 10 }, (_, i) =>
    subgraph(
      `g${i}`,
      Array.from({ length: 20 }, (_unused, k) => node(`x${k}`, i === 9 ? 'Source' : `subgraph:g${i + 1}`)),
      [],
    ),
  );
  expect(expanded(graph([node('i', 'subgraph:g0')], [], { subgraphs: bomb })).codes).toEqual(['graph_too_large']);
});

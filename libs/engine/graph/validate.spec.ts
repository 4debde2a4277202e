import { defineNode, param } from '@cdui/node-sdk';
import type { GraphFile } from '@cdui/protocol';
import { catalogView } from './node-types';
import { graph, node, preset, subgraph } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';
import { validateGraph } from './validate';

const catalog = catalogView(sampleRegistry(), samplePresets());
const issuesOf = (file: GraphFile) => validateGraph(file, catalog).issues;
const start = node('s', 'Start');

it('finds nothing in a good graph', () => {
  const file = graph([start, node('a', 'Source'), node('b', 'Print')], ['s => a', 'a.tensor -> b.value']);
  expect(validateGraph(file, catalog)).toEqual({ valid: true, errors: [], issues: [], warnings: [] });
});

it('collects every problem, in the order of the checks, as messages and with codes', () => {
  const file = graph(
    [
      start,
      node('bad', 'Nonsense'),
      node('later', 'Later'),
      node('lone', 'Layer', { width: 0 }),
      node('big', 'Source', { size: 65 }),
      node('odd', 'Source', { size: 'many' }),
      node('t', 'Train'),
      node('rows', 'Rows'),
    ],
    ['rows.data -> t.model', 'rows.nope -> t.data', 'rows.data -> t.nope', 'ghost.x -> t.extra'],
  );
  const { valid, errors, issues } = validateGraph(file, catalog);
  expect(valid).toBe(false);
  expect(errors).toEqual(issues.map((issue) => issue.message));
  expect(issues.map((issue) => [issue.code, issue.node_id])).toEqual([
    ['unknown_node_type', 'bad'],
    ['node_not_available', 'later'],
    ['missing_input', 'lone'],
    ['param_below_min', 'lone'],
    ['param_above_max', 'big'],
    ['param_not_comparable', 'odd'],
    ['edge_missing_node', 't'],
    ['unknown_output_port', 'rows'],
    ['unknown_input_port', 't'],
    ['type_mismatch', 't'],
    ['no_entry_points', null],
  ]);
});

it('says which node, which field, which value and what to do', () => {
  const [issue] = issuesOf(graph([start, node('a', 'Source', { size: 65 })], ['s => a']));
  expect(issue).toEqual({
    message: 'Node "a" (Source): param "size" must be at most 64, got 65',
    code: 'param_above_max',
    node_id: 'a',
    params: { node: 'a', type: 'Source', param: 'size', value: 65, max: 64 },
  });
});

describe('params', () => {
  const problems = (type: string, params: Record<string, unknown>) =>
    issuesOf(graph([start, node('src', 'Source'), node('a', type, params)], ['s => a', 'src.tensor -> a.tensor']))
      .map((issue) => issue.code)
      .filter((code) => code !== 'unknown_input_port');

  it.each([
    ['Source', { size: 1 }, []],
    ['Source', { size: 64, scale: 0 }, []],
    ['Source', { size: 0 }, ['param_below_min']],
    ['Source', { scale: -0.1 }, ['param_below_min']],
    ['Source', { size: '4' }, ['param_not_comparable']],
    ['Source', { size: true }, ['param_not_comparable']],
    ['Source', { size: null }, ['param_not_comparable']],
    ['Source', { size: 1.5 }, ['param_not_comparable']],
    ['Source', { size: [4] }, ['param_not_comparable']],
    ['Source', { unknown: 'anything' }, []],
    ['Source', {}, []],
    ['Layer', { seed: null }, []],
    ['Layer', { kind: 'tanh' }, []],
    ['Layer', { kind: 'gelu' }, ['option_not_available']],
    ['Layer', { kind: 3 }, ['option_not_available']],
    ['Picky', { word: 'bad' }, ['invalid_param']],
    ['Picky', { word: 'throw' }, ['invalid_param']],
  ])('of %s: %j gives %j', (type, params, codes) => {
    expect(problems(type, params)).toEqual(codes);
  });

  it('of inner nodes are checked too, under the instance', () => {
    const file = graph(
      [start, node('p', 'preset:Two Layers', {}, { internalParams: { first: { width: -1 } } }), node('a', 'Source')],
      ['s => a', 'a.tensor -> p.tensor'],
    );
    expect(issuesOf(file)).toMatchObject([
      { code: 'param_below_min', node_id: 'p', params: { node: 'p__first', inner_id: 'first' } },
    ]);
  });

  it('with an option that a type knows but does not offer are reported in the words of the type', () => {
    const knowing = defineNode({
      name: 'Knowing',
      category: 'Utility',
      description: '',
      params: { set: param.select('a', ['a', 'b']), other: param.select('x', ['x']) },
      check: ({ set }, nodeId) => [
        {
          message: `${String(set)} lies in a folder`,
          code: 'option_not_available',
          node_id: nodeId,
          params: { param: 'set' },
        },
        { message: 'never said beside a wrong option', code: 'invalid_param', node_id: nodeId, params: {} },
      ],
      execute: () => ({}),
    });
    const view = catalogView(sampleRegistry([knowing]), samplePresets());
    const found = (params: Record<string, unknown>) =>
      validateGraph(graph([start, node('k', 'Knowing', params)], ['s => k']), view).issues.map(
        ({ message }) => message,
      );
    expect(found({ set: 'c' })).toEqual(['Node "k" (Knowing): c lies in a folder']);
    expect(found({ set: 'c', other: 'y' })).toEqual([
      'Node "k" (Knowing): c lies in a folder',
      'Node "k" (Knowing): param "other" must be one of x, got "y"',
    ]);
    expect(found({ other: 'y' })).toEqual(['Node "k" (Knowing): param "other" must be one of x, got "y"']);
  });

  it('name the node, whatever the type says about itself', () => {
    const strict = defineNode({
      name: 'Strict',
      category: 'Utility',
      description: '',
      params: { words: param.text('') },
      check: ({ words }, nodeId) => [
        { message: String(words), code: 'invalid_param', node_id: nodeId, params: { param: 'words' } },
      ],
      execute: () => ({}),
    });
    const view = catalogView(sampleRegistry([strict]), samplePresets());
    const said = (words: string) =>
      validateGraph(graph([start, node('k', 'Strict', { words })], ['s => k']), view).issues[0]?.message;
    expect(said('words are wrong')).toBe('Node "k" (Strict): words are wrong');
    expect(said('Strict: words are wrong')).toBe('Node "k" (Strict): words are wrong');
    expect(said('I am "k"')).toBe('I am "k"');
  });

  it("that break a type's port rules are reported, not thrown", () => {
    const touchy = defineNode({
      name: 'Touchy',
      category: 'Utility',
      description: '',
      outputsFor: ({ n }) => {
        if (n === 'boom') throw new Error('no such ports');
        return {};
      },
      execute: () => ({}),
    });
    const view = catalogView(sampleRegistry([touchy]), samplePresets());
    const { issues } = validateGraph(graph([start, node('t', 'Touchy', { n: 'boom' })], ['s => t']), view);
    expect(issues).toMatchObject([{ code: 'invalid_param', node_id: 't' }]);
    expect(issues[0]?.message).toContain('no such ports');
  });
});

describe('ports', () => {
  it.each([
    ['Source', 'tensor', 'Layer', 'tensor', []],
    ['Source', 'tensor', 'Print', 'value', []],
    ['Picture', 'image', 'Layer', 'tensor', []],
    ['Source', 'tensor', 'Picture', 'image', ['type_mismatch']],
    ['Rows', 'data', 'Layer', 'tensor', ['type_mismatch']],
    ['Start', 'trigger', 'Print', 'value', ['type_mismatch']],
  ])('%s.%s -> %s.%s gives %j', (from, out, to, into, codes) => {
    const file = graph([start, node('a', from), node('b', to)], ['s => b', `a.${out} -> b.${into}`]);
    expect(issuesOf(file).map((issue) => issue.code)).toEqual(codes);
  });

  it("that depend on params are asked for with the node's params", () => {
    const file = (chunks: number, port: string) =>
      graph(
        [start, node('a', 'Source'), node('x', 'Split', { chunks }), node('b', 'Layer')],
        ['s => a', 'a.tensor -> x.tensor', `x.${port} -> b.tensor`],
      );
    expect(issuesOf(file(3, 'chunk_2'))).toEqual([]);
    expect(issuesOf(file(2, 'chunk_2'))).toMatchObject([{ code: 'unknown_output_port', node_id: 'x' }]);
  });

  it('named null or not at all are the port without a name', () => {
    const file = {
      nodes: [start, node('a', 'Source'), node('b', 'Print')],
      edges: [
        { source: 's', target: 'a', type: 'trigger', targetHandle: null, sourceHandle: null },
        { source: 'a', sourceHandle: 'tensor', target: 'b', targetHandle: null },
      ],
    };
    expect(issuesOf(file).map((issue) => issue.code)).toEqual(['missing_input', 'unknown_input_port']);
  });

  it('with several edges take the last one, with a warning', () => {
    const file = graph(
      [start, node('a', 'Source'), node('b', 'Rows'), node('c', 'Layer')],
      ['s => a', 'b.data -> c.tensor', 'a.tensor -> c.tensor'],
    );
    const { valid, warnings } = validateGraph(file, catalog);
    expect(valid).toBe(true);
    expect(warnings).toMatchObject([
      { code: 'duplicate_input_edge', node_id: 'c', params: { port: 'tensor', ignored: 'e1', used: 'e2' } },
    ]);
  });
});

describe('cycles', () => {
  it('are named by their path, and only where they run', () => {
    const nodes = [start, node('in', 'Source'), node('a', 'Join'), node('b', 'Layer'), node('c', 'Layer')];
    const lines = ['in.tensor -> a.b', 'a.tensor -> b.tensor', 'b.tensor -> c.tensor', 'c.tensor -> a.a'];
    const [issue] = issuesOf(graph(nodes, [...lines, 's => in']));
    expect(issue).toMatchObject({
      code: 'cycle',
      node_id: 'a',
      params: { path: ['a', 'b', 'c', 'a'], containers: [] },
    });
    expect(issue?.message).toContain('a -> b -> c -> a');
    expect(issuesOf(graph([...nodes, node('x', 'Source')], [...lines, 's => x']))).toEqual([]);
  });

  it('of one node count', () => {
    expect(issuesOf(graph([start, node('a', 'Join')], ['s => a', 'a.tensor -> a.a']))).toMatchObject([
      { code: 'cycle', params: { path: ['a', 'a'] } },
    ]);
  });

  it('name the blocks they cross', () => {
    const file = graph(
      [start, node('g', 'subgraph:g'), node('a', 'Layer')],
      ['s => a', 'g.y -> a.tensor', 'a.tensor -> g.x'],
      {
        subgraphs: [subgraph('g', [node('l', 'Layer')], [], { inputs: ['x: l.tensor'], outputs: ['y: l.tensor'] })],
      },
    );
    const [issue] = issuesOf(file);
    expect(issue).toMatchObject({ code: 'cycle', params: { path: ['g/l', 'a', 'g/l'], containers: ['g'] } });
    expect(issue?.message).toContain('through the block g');
  });
});

it('needs a trigger that enters a node; its source need not be a Start node', () => {
  expect(issuesOf(graph([start, node('a', 'Source')], []))).toMatchObject([{ code: 'no_entry_points', node_id: null }]);
  expect(issuesOf(graph([start, node('a', 'Source')], ['s => nobody']))).toMatchObject([{ code: 'no_entry_points' }]);
  expect(issuesOf(graph([node('x', 'Source'), node('a', 'Source')], ['x => a']))).toEqual([]);
});

it('reports interface nodes with names, types or defaults that cannot work', () => {
  const input = (id: string, params: Record<string, unknown>) => node(id, 'GraphInput', params);
  const file = graph(
    [
      start,
      input('a', { name: '1x' }),
      input('b', { name: 'n', type: 'number', default: 'many' }),
      input('c', { name: 'n' }),
      input('d', { name: 'i', type: 'image', required: false }),
    ],
    ['s => a', 's => b', 's => c', 's => d'],
  );
  expect(issuesOf(file).map((issue) => [issue.code, issue.node_id])).toEqual([
    ['invalid_contract', 'a'],
    ['invalid_contract', 'b'],
    ['invalid_contract', 'd'],
    ['invalid_contract', 'c'],
  ]);
});

it('warns of a newer file format and says nothing of the same', () => {
  const file = graph([start, node('a', 'Source')], ['s => a']);
  expect(validateGraph({ ...file, format_version: 2 }, catalog)).toMatchObject({
    valid: true,
    warnings: [{ code: 'unsupported_format_version' }],
  });
  expect(validateGraph({ ...file, format_version: 1 }, catalog).warnings).toEqual([]);
});

it('answers for a file of wrong structure as well', () => {
  expect(validateGraph({ nodes: 3 } as unknown as GraphFile, catalog)).toMatchObject({
    valid: false,
    issues: [{ code: 'not_a_graph' }, { code: 'not_a_graph' }],
  });
});

it('says no more about a block that cannot be opened than that', () => {
  const file = graph(
    [start, node('a', 'Source'), node('p', 'preset:None'), node('b', 'Layer')],
    ['s => a', 'a.tensor -> p.x', 'p.y -> b.tensor'],
  );
  expect(issuesOf(file).map((issue) => issue.code)).toEqual(['unknown_preset']);
});

it('finds a plugin type by its bare name while that is unambiguous', () => {
  const type = (provider: string) => {
    const base = defineNode({ name: 'Blur', category: 'Plugin', description: '', execute: () => ({}) });
    return { ...base, definition: { ...base.definition, node_name: `${provider}:Blur` } };
  };
  const file = graph([start, node('b', 'Blur')], ['s => b']);
  expect(validateGraph(file, catalogView(sampleRegistry([type('one')]), samplePresets())).valid).toBe(true);
  expect(
    validateGraph(file, catalogView(sampleRegistry([type('one'), type('two')]), samplePresets())).issues,
  ).toMatchObject([{ code: 'unknown_node_type' }]);
});

it('checks embedded presets where an instance uses them', () => {
  const bad = preset('Bad', [{ id: 'x', type: 'Nonsense' }], []);
  expect(
    issuesOf(graph([start, node('p', 'preset:Bad'), node('a', 'Source')], ['s => a'], { presets: [bad] })),
  ).toMatchObject([{ code: 'unknown_node_type', node_id: 'p', params: { inner_id: 'x' } }]);
});

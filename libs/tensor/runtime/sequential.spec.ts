import fc from 'fast-check';
import { checkSequential, sequentialToModule } from './sequential';
import { inferModule } from './specs';

type Json = Record<string, unknown>;
const port = (id: string, name = id) => ({ id, name });
const src: Json = { id: 'src', type: 'Input', ports: [port('ip1', 'features')] };
const sink: Json = { id: 'sink', type: 'Output', ports: [port('op1', 'probs')] };
const fc1: Json = { id: 'fc', type: 'Linear', params: { in_features: 4, out_features: 3 } };
const act: Json = { id: 'act', type: 'Softmax' };
const edges: Json[] = [
  { id: 'a', source: 'src', sourceHandle: 'ip1', target: 'fc' },
  { id: 'b', source: 'fc', target: 'act' },
  { id: 'c', source: 'act', target: 'sink', targetHandle: 'op1' },
];
const text = (nodes: unknown, edgeList: unknown = edges, version: unknown = 2) =>
  JSON.stringify({ version, nodes, edges: edgeList });
const valid = text([src, fc1, act, sink]);
const codes = (layers: unknown) => checkSequential(layers).map(({ code }) => code);

describe('version 2', () => {
  it('becomes a module with the port names', () => {
    expect(checkSequential(valid)).toEqual([]);
    const module = sequentialToModule(valid);
    expect(module).toEqual({
      inputs: ['features'],
      outputs: [{ port: 'probs', from: { node: 'act' } }],
      nodes: [
        { id: 'fc', layer: 'Linear', params: { in_features: 4, out_features: 3 }, from: [{ input: 'features' }] },
        { id: 'act', layer: 'Softmax', params: {}, from: [{ node: 'fc' }] },
      ],
    });
    expect(inferModule(module, { features: { shape: [2, 4], dtype: 'float32' } }, 'eval').probs!.shape).toEqual([2, 3]);
  });

  it('merges take their edges in file order; attention is batch-first', () => {
    const layers = text(
      [
        src,
        { id: 'at', type: 'MultiHeadAttention', params: { embed_dim: 4, num_heads: 2 } },
        { id: 'sub', type: 'Subtract' },
        sink,
      ],
      [
        { source: 'at', target: 'sub' },
        { source: 'src', sourceHandle: 'ip1', target: 'sub' },
        { source: 'src', sourceHandle: 'ip1', target: 'at' },
        { source: 'sub', target: 'sink', targetHandle: 'op1' },
      ],
    );
    const module = sequentialToModule(layers);
    expect(module.nodes[0]).toMatchObject({ params: { embed_dim: 4, num_heads: 2, batch_first: true } });
    expect(module.nodes[1]!.from).toEqual([{ node: 'at' }, { input: 'features' }]);
  });
});

describe('each rule', () => {
  const rules: readonly [string, string, string][] = [
    ['not JSON', '{', 'layers_not_json'],
    ['not an object', '3', 'layers_bad_format'],
    ['a version that is not 2', text([src, sink], [], 3), 'layers_bad_version'],
    ['nodes that are no list', text({}), 'layers_bad_format'],
    ['a node without a type', text([src, fc1, act, sink, { id: 'q' }]), 'layers_bad_format'],
    ['two nodes of one id', text([src, fc1, act, sink, fc1]), 'layers_duplicate_id'],
    ['no Input', text([fc1, act, sink]), 'layers_bad_ports'],
    ['two Outputs', text([src, fc1, act, sink, { ...sink, id: 'sink2' }]), 'layers_bad_ports'],
    ['an Input without ports', text([{ ...src, ports: [] }, fc1, act, sink]), 'layers_bad_ports'],
    [
      'ports of one name',
      text([{ ...src, ports: [port('ip1', 'x'), port('ip2', 'x')] }, fc1, act, sink]),
      'layers_bad_ports',
    ],
    [
      'an edge from Input without its handle',
      text([src, fc1, act, sink], [{ source: 'src', target: 'fc' }, ...edges.slice(1)]),
      'layers_bad_handle',
    ],
    [
      'an edge into Output with a wrong handle',
      text([src, fc1, act, sink], [...edges.slice(0, 2), { ...edges[2], targetHandle: 'probs' }]),
      'layers_bad_handle',
    ],
    [
      'an Output port with two edges',
      text([src, fc1, act, sink], [...edges, { source: 'fc', target: 'sink', targetHandle: 'op1' }]),
      'layers_wrong_inputs',
    ],
    [
      'an Input port that nothing uses',
      text([{ ...src, ports: [port('ip1', 'x'), port('ip2', 'y')] }, fc1, act, sink]),
      'layers_unused_port',
    ],
    [
      'a plain layer with two edges',
      text([src, fc1, act, sink], [...edges, { source: 'src', sourceHandle: 'ip1', target: 'act' }]),
      'layers_wrong_inputs',
    ],
    ['a plain layer without an edge', text([src, fc1, act, sink, { id: 'lone', type: 'ReLU' }]), 'layers_wrong_inputs'],
    [
      'Subtract with three edges',
      text(
        [src, fc1, act, { id: 'sub', type: 'Subtract' }, sink],
        [...edges, ...['src', 'fc', 'act'].map((source) => ({ source, target: 'sub', sourceHandle: 'ip1' }))],
      ),
      'layers_wrong_inputs',
    ],
    [
      'a cycle',
      text(
        [src, fc1, act, sink, { id: 'r', type: 'ReLU' }, { id: 's', type: 'ReLU' }],
        [...edges, { source: 'r', target: 's' }, { source: 's', target: 'r' }],
      ),
      'layers_cycle',
    ],
    [
      'an edge from nowhere',
      text([src, fc1, act, sink], [...edges, { source: 'ghost', target: 'fc' }]),
      'layers_unknown_endpoint',
    ],
    [
      'an edge out of Output',
      text([src, fc1, act, sink], [...edges, { source: 'sink', target: 'fc' }]),
      'layers_wrong_inputs',
    ],
    [
      'an unknown argument',
      text([src, { ...fc1, params: { in_features: 4, out_features: 3, units: 1 } }, act, sink]),
      'layers_bad_params',
    ],
    ['params that are no object', text([src, fc1, { ...act, params: [1] }, sink]), 'layers_bad_params'],
    ['an unknown layer', text([src, fc1, { ...act, type: 'Sofmax' }, sink]), 'layers_unknown_layer'],
    ['a layer that is not there', text([src, fc1, { ...act, type: 'LSTM' }, sink]), 'layers_unsupported_layer'],
  ];

  it.each(rules)('%s is reported', (_, layers, code) => {
    expect(codes(layers)).toContain(code);
    expect(() => sequentialToModule(layers)).toThrow();
  });

  it('every problem is reported at once, with a path', () => {
    const layers = text(
      [src, { ...fc1, params: {} }, { ...act, type: 'Sofmax' }, sink],
      [...edges, { source: 'x', target: 'fc' }],
    );
    expect(checkSequential(layers).map(({ code, path }) => [code, path])).toEqual([
      ['layers_bad_params', 'nodes[1].params'],
      ['layers_unknown_layer', 'nodes[2].type'],
      ['layers_unknown_endpoint', 'edges[3].source'],
      ['layers_wrong_inputs', 'nodes[1]'],
    ]);
    const unknown = checkSequential(layers).find(({ code }) => code === 'layers_unknown_layer')!;
    expect(unknown.params.near).toContain('Softmax');
  });

  it('only missing layers make the error unsupported', () => {
    const layers = text([src, fc1, { ...act, type: 'GroupNorm' }, sink]);
    expect(() => sequentialToModule(layers)).toThrow(expect.objectContaining({ code: 'unsupported' }));
  });

  it('anything at all is answered without an exception', () => {
    const json = JSON.parse(valid) as { nodes: Json[]; edges: Json[] };
    const mutated = fc.tuple(
      fc.nat(6),
      fc.constantFrom('id', 'type', 'params', 'ports', 'source', 'target', 'sourceHandle'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.array(mutated, { maxLength: 4 }), fc.jsonValue(), (changes, anything) => {
        const copy = structuredClone(json);
        const targets = [...copy.nodes, ...copy.edges];
        for (const [at, key, value] of changes) targets[at]![key] = value;
        expect(Array.isArray(checkSequential(JSON.stringify(copy)))).toBe(true);
        expect(Array.isArray(checkSequential(JSON.stringify(anything)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('version 1', () => {
  it('is a chain from x to y with the ids of nn.Sequential', () => {
    const module = sequentialToModule(
      JSON.stringify([{ type: 'Linear', in_features: 4, out_features: 3 }, { type: 'ReLU' }]),
    );
    expect(module.inputs).toEqual(['x']);
    expect(module.outputs).toEqual([{ port: 'y', from: { node: '1' } }]);
    expect(module.nodes.map(({ id }) => id)).toEqual(['0', '1']);
    expect(inferModule(module, { x: { shape: [2, 4], dtype: 'float32' } }, 'eval').y!.shape).toEqual([2, 3]);
  });

  it('passes its input through when it is empty, and reports bad layers by their place', () => {
    expect(sequentialToModule('[]').outputs).toEqual([{ port: 'y', from: { input: 'x' } }]);
    expect(codes('[{"type":"Linear"}, 5]')).toEqual(expect.arrayContaining(['layers_bad_params', 'layers_bad_format']));
  });
});

import type { ModuleRef, OptimizerRef, TensorRef } from '@cdui/tensor/runtime';
import { defineNode, describeValue, handlesOf, interrupted, param } from './index';
import type { NodeContext, NodeSpec } from './index';

const context = { nodeId: 'n1' } as NodeContext;
const tensor = (id: number): TensorRef => ({
  id,
  label: 'test',
  kind: 'tensor',
  shape: [2, 3],
  dtype: 'float32',
  device: 'cpu',
  freed: false,
  retain() {
    return this;
  },
  release: () => undefined,
});

const scale: NodeSpec = {
  name: 'Scale',
  category: 'Tests',
  description: 'Multiplies a number',
  inputs: { value: 'SCALAR', offset: ['SCALAR?', 'Added afterwards'] },
  outputs: { result: 'SCALAR' },
  params: {
    factor: param.float(2, { min: 0, max: 10, description: 'The factor' }),
    dims: param.text('1, -2'),
    mode: param.select('plain', ['plain', 'square'], { advanced: true, visibleWhen: { factor: 2 } }),
    steps: param.int(null),
    on: param.bool(true),
  },
  execute: (_context, inputs, params) => ({
    result: inputs.number('value') * params.float('factor') + (inputs.optionalNumber('offset') ?? 0),
  }),
};

const withExecute = (execute: NodeSpec['execute']) => defineNode({ ...scale, execute });

describe('defineNode', () => {
  it('publishes the whole definition, in wire names', () => {
    expect(defineNode(scale).definition).toEqual({
      node_name: 'Scale',
      category: 'Tests',
      description: 'Multiplies a number',
      inputs: [
        { name: 'value', data_type: 'SCALAR', description: '', optional: false },
        { name: 'offset', data_type: 'SCALAR', description: 'Added afterwards', optional: true },
      ],
      outputs: [{ name: 'result', data_type: 'SCALAR', description: '', optional: false }],
      params: [
        {
          name: 'factor',
          param_type: 'float',
          default: 2,
          description: 'The factor',
          options: [],
          min_value: 0,
          max_value: 10,
          visible_when: null,
          advanced: false,
        },
        {
          name: 'dims',
          param_type: 'string',
          default: '1, -2',
          description: '',
          options: [],
          min_value: null,
          max_value: null,
          visible_when: null,
          advanced: false,
        },
        {
          name: 'mode',
          param_type: 'select',
          default: 'plain',
          description: '',
          options: ['plain', 'square'],
          min_value: null,
          max_value: null,
          visible_when: { factor: 2 },
          advanced: true,
        },
        {
          name: 'steps',
          param_type: 'int',
          default: null,
          description: '',
          options: [],
          min_value: null,
          max_value: null,
          visible_when: null,
          advanced: false,
        },
        {
          name: 'on',
          param_type: 'bool',
          default: true,
          description: '',
          options: [],
          min_value: null,
          max_value: null,
          visible_when: null,
          advanced: false,
        },
      ],
      provider: 'builtin',
    });
  });

  it('runs with defaults and with what is wired', async () => {
    const node = defineNode(scale);
    await expect(node.execute(context, { value: 3 }, {})).resolves.toEqual({ outputs: { result: 6 } });
    await expect(node.execute(context, { value: 3, offset: 1 }, { factor: 4 })).resolves.toEqual({
      outputs: { result: 13 },
    });
    await expect(node.execute(context, { value: 3, offset: null }, {})).resolves.toEqual({ outputs: { result: 6 } });
  });

  it.each([
    [{}, {}, 'missing_input', /Scale "n1": input "value" needs a number, got nothing; connect it/],
    [{ value: 'x' }, {}, 'wrong_input_type', /input "value" needs a number, got the text "x"/],
    [{ value: tensor(1) }, {}, 'wrong_input_type', /got a tensor \[2, 3\] of float32/],
    [{ value: 1 }, { factor: 'much' }, 'invalid_param', /param "factor" must be a number, got "much"/],
    [{ value: 1 }, { factor: -1 }, 'param_below_min', /param "factor" must be at least 0, got -1/],
    [{ value: 1 }, { factor: 11 }, 'param_above_max', /param "factor" must be at most 10, got 11/],
  ])('names node, port and value: %p %p', async (inputs, params, code, message) => {
    await expect(defineNode(scale).execute(context, inputs, params)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('reads every kind of param', async () => {
    const seen: unknown[] = [];
    const node = withExecute((_context, _inputs, params) => {
      seen.push(
        params.ints('dims'),
        params.choice('mode'),
        params.optionalInt('steps'),
        params.bool('on'),
        params.raw('hidden'),
      );
      return { result: 0 };
    });
    await node.execute(context, {}, {});
    await node.execute(context, {}, { dims: [3, 4], steps: 5, on: false, hidden: 'value', mode: 'square' });
    expect(seen).toEqual([[1, -2], 'plain', null, true, undefined, [3, 4], 'square', 5, false, 'value']);
  });

  it.each<[Record<string, unknown>, NodeSpec['execute'], string, RegExp]>([
    [
      { mode: 'cube' },
      (_c, _i, params) => ({ result: params.choice('mode').length }),
      'option_not_available',
      /must be one of plain, square, got "cube"/,
    ],
    [
      { dims: '1,,2' },
      (_c, _i, params) => ({ result: params.ints('dims').length }),
      'invalid_param',
      /separated by commas, got "1,,2"/,
    ],
    [{ dims: '1.5' }, (_c, _i, params) => ({ result: params.ints('dims').length }), 'invalid_param', /whole numbers/],
    [
      { steps: 1.5 },
      (_c, _i, params) => ({ result: params.int('steps') }),
      'invalid_param',
      /must be a whole number, got 1.5/,
    ],
    [{ on: 'yes' }, (_c, _i, params) => ({ result: params.bool('on') }), 'invalid_param', /true or false/],
  ])('refuses the params %p', async (params, execute, code, message) => {
    await expect(withExecute(execute).execute(context, {}, params)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('keeps secrets out of errors', async () => {
    const node = defineNode({
      ...scale,
      params: { key: param.secret() },
      execute: (_context, _inputs, params) => params.reject('key', 'must be a valid key'),
    });
    const error: unknown = await Promise.resolve(node.execute(context, {}, { key: 'hunter2' })).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ message: expect.stringContaining('got "(secret)"'), params: { value: '(secret)' } });
    expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
  });

  it('refuses outputs that the node does not have, and passes private ones', async () => {
    await expect(withExecute(() => ({ other: 1 })).execute(context, {}, {})).rejects.toMatchObject({
      code: 'invalid_node_result',
      message: expect.stringContaining('"other"'),
    });
    await expect(withExecute(() => ({ result: 1, __log__: 'text' })).execute(context, {}, {})).resolves.toEqual({
      outputs: { result: 1, __log__: 'text' },
    });
    const wrong = (() => 5) as unknown as NodeSpec['execute'];
    await expect(withExecute(wrong).execute(context, {}, {})).rejects.toMatchObject({ code: 'invalid_node_result' });
  });

  it('reports an interruption with its facts', async () => {
    await expect(withExecute(() => interrupted({ result: 1 }, { epoch: 2 })).execute(context, {}, {})).resolves.toEqual(
      {
        outputs: { result: 1 },
        interrupted: { epoch: 2 },
      },
    );
  });

  it('asks for the ports of the given params', async () => {
    const node = defineNode({
      ...scale,
      outputsFor: (params) => ({ [`out${String(params['steps'])}`]: 'SCALAR' }),
      execute: () => ({ out3: 1 }),
    });
    expect(node.outputsFor?.({ steps: 3 })).toEqual([
      { name: 'out3', data_type: 'SCALAR', description: '', optional: false },
    ]);
    await expect(node.execute(context, {}, { steps: 3 })).resolves.toEqual({ outputs: { out3: 1 } });
  });

  it.each<[string, unknown]>([
    ['name', { ...scale, name: 'preset:x' }],
    ['category', { ...scale, category: '' }],
    ['execute', { ...scale, execute: undefined }],
    ['types', { ...scale, inputs: { x: 'TENSORS' } }],
    ['ports', { ...scale, inputs: 'x' }],
    ['helper', { ...scale, params: { x: 3 } }],
    ['options', { ...scale, params: { x: param.select('c', ['a', 'b']) } }],
    ['object', null],
  ])('refuses a definition and says what is wrong (%s)', (word, spec) => {
    expect(() => defineNode(spec as NodeSpec)).toThrow(
      expect.objectContaining({ code: 'invalid_node_definition', message: expect.stringContaining(word) }),
    );
  });
});

describe('values', () => {
  it('finds the handles of nested values once', () => {
    const [a, b] = [tensor(1), tensor(2)];
    expect(handlesOf([a, { x: b, y: [a, 'text', null] }])).toEqual([a, b]);
    expect(handlesOf(5)).toEqual([]);
    expect(handlesOf(undefined)).toEqual([]);
    expect(handlesOf({ kind: 'tensor', shape: [1] })).toEqual([]);
  });

  it('asks data sets, loaders and optimisers for theirs', () => {
    const rows = tensor(1);
    const dataset = {
      kind: 'dataset' as const,
      name: 'd',
      length: 2,
      classes: null,
      fields: [],
      affine: {},
      batch: () => ({ host: {} }),
      handles: () => [rows],
    };
    const { shape: _shape, dtype: _dtype, kind: _kind, ...handle } = tensor(3);
    const module: ModuleRef = {
      ...handle,
      kind: 'module',
      spec: { inputs: [], outputs: [], nodes: [] },
      parameters: [],
      retain: () => module,
    };
    const optimizer: OptimizerRef = {
      ...handle,
      kind: 'optimizer',
      spec: { type: 'SGD', lr: 1 },
      module,
      retain: () => optimizer,
    };
    expect(handlesOf(dataset)).toEqual([rows]);
    expect(handlesOf(optimizer)).toEqual([optimizer, module]);
    expect(describeValue(dataset)).toBe('the data set d (2 rows)');
    expect(describeValue(optimizer)).toBe('an optimizer (SGD)');
  });

  it('describes plain values', () => {
    expect([undefined, 3, true, 'abc', [1], { a: 1 }].map((value) => describeValue(value))).toEqual([
      'nothing',
      'the number 3',
      'the truth value true',
      'the text "abc"',
      'a list of 1 item',
      'an object with the keys a',
    ]);
  });
});

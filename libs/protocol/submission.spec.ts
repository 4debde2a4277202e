import fc from 'fast-check';
import { checkCanvasSubmission } from './canvas-submission';
import { CodedError } from './errors';
import { checkOptions, checkSubmission } from './submission';

const GRAPH = { name: ' A graph ', nodes: [{ id: 'a', type: 'Start' }], edges: [] };

function refusal(act: () => unknown): { code: string; params: Readonly<Record<string, unknown>>; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof CodedError) return { code: error.code, params: error.params, message: error.message };
    throw error;
  }
  throw new Error('It was accepted');
}

const submit = (options: unknown, rest: object = {}): unknown => checkSubmission({ graph: GRAPH, options, ...rest });

describe('checkSubmission', () => {
  it('fills in every default', () => {
    expect(checkSubmission({ graph: GRAPH })).toEqual({
      graph: GRAPH,
      name: 'A graph',
      options: {
        device: null,
        seed: null,
        deterministic: false,
        record_outputs: false,
        lane: 'queued',
        verbose: false,
        backward_mode: false,
        auto_backward: false,
        weights_persistent: false,
        graph_id: '',
        error_mode: 'fail_fast',
        max_retries: 0,
        provenance: false,
        priority: 0,
        target: null,
      },
    });
  });

  it('takes what it gave back, as a retry does', () => {
    const given = { device: 'CUDA:007', seed: 7, target: { devices: ['cpu'] }, error_mode: 'retry', max_retries: 3 };
    const options = checkOptions(given);
    expect(options.device).toBe('cuda:7');
    expect(checkOptions(JSON.parse(JSON.stringify(options)))).toEqual(options);
  });

  it.each([
    ['', null],
    ['', []],
    ['graph', {}],
    ['graph', { graph: 'x' }],
    ['graph', { graph: [] }],
    ['graph.nodes', { graph: {} }],
    ['graph.nodes', { graph: { nodes: {} } }],
    ['graph.nodes', { graph: { nodes: [] } }],
    ['options', { graph: GRAPH, options: 'x' }],
    ['options', { graph: GRAPH, options: [] }],
    ['name', { graph: GRAPH, name: 3 }],
    ['name', { graph: GRAPH, name: 'x'.repeat(65) }],
    ['name', { graph: GRAPH, name: '𠮷'.repeat(65) }],
    ['name', { graph: GRAPH, name: 'a\0b' }],
    ['name', { graph: GRAPH, name: 'a\ud800' }],
    ['priority', { graph: GRAPH, priority: 1 }],
    ['__proto__', JSON.parse('{"graph":{"nodes":[1]},"__proto__":{}}')],
  ])('names the field %j of a body that has not the form', (field, body) => {
    expect(refusal(() => checkSubmission(body))).toMatchObject({ code: 'invalid_body', params: { field } });
  });

  it('trims the name and takes the graph’s when there is none', () => {
    expect(submit({}, { name: ` ${'x'.repeat(64)} ` })).toMatchObject({ name: 'x'.repeat(64) });
    expect(submit({}, { name: '𠮷'.repeat(64) })).toMatchObject({ name: '𠮷'.repeat(64) });
    expect(submit({}, { name: '  ' })).toMatchObject({ name: 'A graph' });
    expect(checkSubmission({ graph: { ...GRAPH, name: 'y'.repeat(100) } }).name).toBe('y'.repeat(64));
    expect(checkSubmission({ graph: { ...GRAPH, name: `a\0\ud800${'𠮷'.repeat(99)}` } }).name).toBe(
      `a${'𠮷'.repeat(63)}`,
    );
  });

  it.each([
    ['device', ['gpu', 'cuda:', 'cuda:-1', 'cuda:0x1', 'mps:a', 1, '', `cuda:${'1'.repeat(80)}`]],
    ['seed', [-1, 2 ** 32, 1.5, '7', true, NaN]],
    ['deterministic', [1, 0, 'true', []]],
    ['record_outputs', ['yes']],
    ['lane', ['fast', 1, 'x'.repeat(65)]],
    ['verbose', ['on']],
    ['backward_mode', [1]],
    ['auto_backward', [{}]],
    ['weights_persistent', ['']],
    ['graph_id', [1, 'x'.repeat(129)]],
    ['error_mode', ['ignore', 1]],
    ['max_retries', [11, -1, 0.5, '1']],
    ['provenance', ['x']],
    ['priority', [1001, -1001, 0.5, '1', true]],
  ])('refuses values that the option %s does not have', (option, values) => {
    for (const value of values as readonly unknown[]) {
      expect(refusal(() => submit({ [option]: value }))).toMatchObject({ code: 'invalid_option', params: { option } });
    }
  });

  it.each(['urgency', 'Device', '__proto__', 'constructor', 'toString'])(
    'refuses the unknown option %s by name',
    (key) => {
      const options: unknown = JSON.parse(`{"${key}": true}`);
      expect(refusal(() => submit(options))).toMatchObject({ code: 'unknown_option', params: { option: key } });
    },
  );

  it.each([
    [{ worker: 'local' }],
    [{}],
    [{ devices: ['cpu'] }],
    [{ worker: 'local', devices: ['cuda:0', 'cuda:1'], wait: false, memory_source: 'user' }],
  ])('takes a run for this server: %j', (target) => {
    expect(submit({ target })).toMatchObject({ options: { target: { worker: 'local', ...target } } });
  });

  it.each([
    { worker: 'gpu-box-1' },
    { worker: 'gpu-box-1', devices: ['cuda:2', 'cuda:0'] },
    { worker: 'any' },
    { worker: 'any', devices: ['cuda:0'] },
  ])('takes a run for a worker that is named, or for any: %j', (target) => {
    expect(submit({ target })).toMatchObject({ options: { target } });
  });

  it.each([
    ['target.memory_gib', { worker: 'gpu-box-1', devices: ['cuda:0'], memory_gib: 4, memory_source: 'suggested' }],
    ['target.worker', { worker: 'pool.a-1' }],
    ['target.pool', { worker: 'any', pool: 'one-shot' }],
    ['target.pool', { pool: 'one-shot' }],
  ])('says that %s is not supported yet, once the target is well formed', (option, target) => {
    expect(refusal(() => submit({ target }))).toMatchObject({ code: 'target_unsupported', params: { option } });
  });

  it.each([
    ['target', []],
    ['target', 'local'],
    ['target.worker', { worker: 'GPU' }],
    ['target.worker', { worker: '-a' }],
    ['target.worker', { worker: 'a.b.c' }],
    ['target.worker', { worker: 'a.' }],
    ['target.worker', { worker: 'local.a' }],
    ['target.worker', { worker: 'x'.repeat(64) }],
    ['target.worker', { worker: 3 }],
    ['target.devices', { devices: [] }],
    ['target.devices', { devices: 'cpu' }],
    ['target.devices', { devices: ['cuda'] }],
    ['target.devices', { devices: ['cuda:0', 'cuda:0'] }],
    ['target.devices', { devices: ['cuda:0', 'mps:0'] }],
    ['target.devices', { devices: ['cuda:01'] }],
    ['target.devices', { worker: 'a', devices: [1] }],
    ['target.pool', { worker: 'a', pool: 'many' }],
    ['target.pool', { worker: 'local', pool: 'one-shot' }],
    ['target.memory_gib', { worker: 'a', memory_gib: 0 }],
    ['target.memory_gib', { worker: 'a', memory_gib: '4' }],
    ['target.memory_gib', { worker: 'a', memory_gib: Infinity }],
    ['target.memory_gib', { worker: 'local', memory_gib: 4 }],
    ['target.memory_gib', { memory_gib: 4 }],
    ['target.memory_source', { worker: 'a', memory_source: 'guess' }],
    ['target.wait', { worker: 'a', wait: 1 }],
  ])('refuses a target whose %s is wrong: %j', (option, target) => {
    expect(refusal(() => submit({ target }))).toMatchObject({ code: 'invalid_target', params: { option } });
  });

  it('refuses unknown members of a target by name', () => {
    const act = () => submit({ target: { worker: 'local', gpus: 2 } });
    expect(refusal(act)).toMatchObject({ code: 'unknown_option', params: { option: 'target.gpus' } });
  });

  it('refuses what can never be together', () => {
    expect(refusal(() => submit({ lane: 'interactive', target: { worker: 'any' } }))).toMatchObject({
      code: 'invalid_target',
      params: { option: 'target.worker' },
    });
    expect(refusal(() => submit({ record_outputs: true, target: { pool: 'one-shot' } }))).toMatchObject({
      code: 'invalid_target',
      params: { option: 'record_outputs' },
    });
    expect(submit({ lane: 'interactive', target: { worker: 'local' } })).toBeDefined();
  });

  const hostile = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  } as fc.ObjectConstraints);
  const keys = [
    ...['graph', 'options', 'name', 'nodes', 'edges', 'target', 'worker', 'devices', 'pool', 'memory_gib', 'wait'],
    ...['device', 'seed', 'lane', 'max_retries', 'error_mode', '__proto__', 'constructor', 'changed_nodes'],
  ];
  const nearlyRight = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      hostile,
      fc.constantFrom('local', 'any', 'cuda:0', 'interactive', 'one-shot', true, 7),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6 }),
    ),
  })).value;
  const bodies = fc.oneof(
    hostile,
    nearlyRight,
    fc.record({ graph: fc.oneof(nearlyRight, fc.constant(GRAPH)), options: nearlyRight }),
    fc.record({ graph: fc.constant(GRAPH), options: fc.record({ target: nearlyRight }) }),
  );

  it.each([
    ['submission', checkSubmission],
    ['execute message', checkCanvasSubmission],
  ])('answers whatever comes as a %s with a coded error, or with options of the right types', (_, check) => {
    fc.assert(
      fc.property(bodies, (body) => {
        try {
          const { options, name } = check(body);
          expect(checkOptions(JSON.parse(JSON.stringify(options)))).toEqual(options);
          expect([...name].length).toBeLessThanOrEqual(64);
        } catch (error) {
          if (!(error instanceof CodedError)) throw error;
          expect([
            'invalid_body',
            'invalid_option',
            'unknown_option',
            'invalid_target',
            'target_unsupported',
          ]).toContain(error.code);
          JSON.stringify(error.params);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('checkCanvasSubmission', () => {
  it('sorts an execute message into graph and options', () => {
    const message = {
      action: 'execute',
      ...GRAPH,
      settings: { seed: 3 },
      verbose_mode: true,
      device: 'cpu',
      graph_id: 'g',
      changed_nodes: ['a'],
      run_id: 'mine',
      something_newer: 1,
    };
    expect(checkCanvasSubmission(message)).toMatchObject({
      graph: { nodes: GRAPH.nodes, edges: [], settings: { seed: 3 } },
      options: { lane: 'interactive', verbose: true, device: 'cpu', graph_id: 'g' },
      changedNodes: ['a'],
    });
  });

  it('refuses edited nodes that are no list of ids', () => {
    expect(refusal(() => checkCanvasSubmission({ ...GRAPH, changed_nodes: [1] }))).toMatchObject({
      code: 'invalid_body',
      params: { field: 'changed_nodes' },
    });
  });
});

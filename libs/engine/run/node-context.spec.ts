import type { NodeContext, NodeSpec, PortValue } from '@cdui/node-sdk';
import { interrupted } from '@cdui/node-sdk';
import { ExecutionContext } from './node-context';
import { Harness, planned, planOf, registryOf } from './testing/harness';

async function runNode(act: (context: NodeContext) => unknown) {
  const harness = new Harness();
  const node: NodeSpec = {
    name: 'Acting',
    category: 'Test',
    description: '',
    outputs: { value: 'ANY' },
    execute: async (context) => {
      const value = await act(context);
      return (typeof value === 'object' && value !== null ? value : {}) as Record<string, PortValue>;
    },
  };
  const result = await harness.run({ registry: registryOf(node), plan: planOf(planned('n', 'Acting')) });
  return { result, observer: harness.observer };
}

const loop: Record<string, unknown> = {};
loop['again'] = { items: [loop] };
const wrong = (value: unknown): never => value as never;

describe('what a node may call', () => {
  it('works when it is taken out of the context', async () => {
    const { result, observer } = await runNode(
      async ({ log, progress, metric, artifact, warn, output, step, ...rest }) => {
        log('hello');
        progress({ event: 'batch' });
        metric('loss', NaN, 1);
        artifact('file', '/a');
        warn({ kind: 'odd', detail: 'it is odd' });
        output({ output_kind: 'text', text: 'shown' });
        step({ name: 's', description: '' });
        await rest.drained();
      },
    );
    expect(result).toMatchObject({ status: 'succeeded', error: null });
    expect(observer.last('n')?.outputs).toEqual([
      { output_kind: 'text', text: 'hello' },
      { output_kind: 'text', text: 'shown' },
    ]);
    expect(observer).toMatchObject({ metrics: [{ name: 'loss', value: NaN, step: 1 }], artifacts: [{ path: '/a' }] });
    expect(observer.warnings).toEqual([{ kind: 'odd', detail: 'it is odd' }]);
  });

  it('is bound, every public function that a later version adds included', async () => {
    const inner = ['constructor', 'releaseBorrowed', 'entries', 'borrow'];
    const { result } = await runNode((context) => {
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(ExecutionContext.prototype))) {
        if (typeof value === 'function' && !inner.includes(name)) expect(Object.keys(context)).toContain(name);
      }
    });
    expect(result.error).toBeNull();
  });

  it.each<[string, (context: NodeContext) => void, string]>([
    [
      'a text as a warning',
      (c) => c.warn(wrong('text')),
      'called warn(...) with a wrong "warning": it takes an object',
    ],
    [
      'a warning of no kind',
      (c) => c.warn(wrong({ code: 'x', detail: 'y' })),
      '"kind": it takes a text that is not empty, got undefined',
    ],
    ['a detail that is a number', (c) => c.warn(wrong({ kind: 'x', detail: 5 })), '"detail": it takes a text, got 5'],
    [
      'params that are a list',
      (c) => c.warn(wrong({ kind: 'x', detail: '', params: [] })),
      '"params": it takes an object of plain data, got a list of 0',
    ],
    ['a metric called 5', (c) => c.metric(wrong(5), 1, 1), '"name": it takes a text that is not empty, got 5'],
    [
      'a metric that is a text',
      (c) => c.metric('a', wrong('1'), 1),
      '"value": it takes a number (NaN and infinities are stored as null), got "1"',
    ],
    ['half a step', (c) => c.metric('a', 1, 0.5), '"step": it takes a whole number, got 0.5'],
    [
      'no frame',
      (c) => c.progress(wrong(null)),
      'called progress(...) with a wrong "frame": it takes an object of plain data, got null',
    ],
    ['a frame in itself', (c) => c.progress(loop), 'that contains itself'],
    ['a BigInt in a frame', (c) => c.progress({ n: 5n }), 'that contains a BigInt'],
    [
      'an artifact nowhere',
      (c) => c.artifact('file', wrong(undefined)),
      '"path": it takes a text that is not empty, got undefined',
    ],
    [
      'meta that is a text',
      (c) => c.artifact('file', '/a', wrong('m')),
      '"meta": it takes an object of plain data, got "m"',
    ],
    [
      'an entry of an unknown kind',
      (c) => c.output(wrong({ output_kind: 'sound' })),
      '"output_kind": it takes one of text, image',
    ],
    [
      'a text entry without text',
      (c) => c.output(wrong({ output_kind: 'text' })),
      '"text": it takes a text, got undefined',
    ],
    [
      'an image without data',
      (c) => c.output(wrong({ output_kind: 'image', image: {} })),
      '"image.format": it takes "png"',
    ],
    ['a step of nothing', (c) => c.step(wrong({ name: 's' })), '"description": it takes a text, got undefined'],
    [
      'an object as log',
      (c) => c.log(wrong({})),
      'called log(...) with a wrong "text": it takes a text, got an object',
    ],
  ])('refuses %s', async (_what, act, sentence) => {
    const { result, observer } = await runNode(act);
    expect(result.status).toBe('failed');
    expect(result.error).toContain('Node "n" called ');
    expect(result.error).toContain(sentence);
    expect(observer.last('n')).toMatchObject({ status: 'error', errorType: 'invalid_report' });
    expect([...observer.metrics, ...observer.artifacts, ...observer.warnings]).toEqual([]);
  });

  it('says how much of a long log only the console has', async () => {
    const { observer } = await runNode(({ log }) => {
      for (let line = 0; line < 9_000; line++) log(`line ${line}`.padEnd(15, '.'));
      log('two\nlines');
    });
    const [entry] = observer.last('n')?.outputs ?? [];
    const lines = (entry as { text: string }).text.split('\n');
    expect(lines.at(-2)).toBe(`line ${lines.length - 2}`.padEnd(15, '.'));
    expect(lines.at(-1)).toBe(`... ${9_000 - (lines.length - 1) + 2} more lines: the run's log has them`);
  });

  it('refuses facts of an early stop that are no data', async () => {
    const { result } = await runNode(() => interrupted({}, { loop }));
    expect(result.error).toContain('called interrupted(...) with a wrong "facts"');
  });

  it.each([
    ['itself', { value: loop }, 'returned a value for the port "value" that contains itself'],
    ['a BigInt', { value: [5n] }, 'returned a value for the port "value" that contains a BigInt'],
  ])('names node and port of a value that contains %s', async (_what, outputs, sentence) => {
    const { result, observer } = await runNode(() => outputs);
    expect(result.error).toContain(`Acting "n" ${sentence}`);
    expect(result.error).not.toContain('\n');
    expect(observer.last('n')?.errorType).toBe('invalid_node_result');
  });

  it('lets one value stand in several places', async () => {
    const shared = { a: 1 };
    expect((await runNode(() => ({ value: [shared, shared] }))).result.status).toBe('succeeded');
  });

  it.each([
    ['an error whose message is a number', () => Object.assign(new Error(), { message: 5 }), '5'],
    ['an object without a text form', () => Object.create(null) as Error, '[object Object]'],
  ])('reports %s as text', async (_what, thrown, text) => {
    const { observer } = await runNode(() => {
      throw thrown();
    });
    expect(observer.last('n')).toMatchObject({ status: 'error', error: text });
  });
});

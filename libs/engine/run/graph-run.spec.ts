import type { NodeSpec } from '@cdui/node-sdk';
import { param } from '@cdui/node-sdk';
import { gate, Harness, planned, planOf, registryOf } from './testing/harness';

const base = { category: 'Test', description: '' };
const five: NodeSpec = { ...base, name: 'Five', outputs: { value: 'ANY' }, execute: () => ({ value: 5 }) };
const output: NodeSpec = {
  ...base,
  name: 'GraphOutput',
  inputs: { value: 'ANY' },
  params: { name: param.text('output') },
  execute: () => ({}),
};

it('answers under any name, be it one that objects have already', async () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const result = await new Harness().run({
    registry: registryOf(five, output),
    plan: planOf(
      planned('five', 'Five'),
      ...names.map((name, index) => planned(`o${index}`, 'GraphOutput', { value: 'five.value' }, { name })),
    ),
  });
  expect(JSON.stringify(result.graphOutputs)).toBe('{"__proto__":5,"constructor":5,"toString":5}');
});

it('keeps the failure of a run that is cancelled only afterwards', async () => {
  const abort = new AbortController();
  const started = gate();
  const waiting: NodeSpec = {
    ...five,
    name: 'Waiting',
    execute: async ({ signal }) => {
      started.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      abort.abort('user');
      throw signal.reason;
    },
  };
  const bad: NodeSpec = {
    ...five,
    name: 'Bad',
    execute: async () => {
      await started.opened;
      throw new Error('it broke');
    },
  };
  const result = await new Harness().run({
    registry: registryOf(waiting, bad),
    plan: planOf(planned('w', 'Waiting'), planned('bad', 'Bad')),
    signal: abort.signal,
  });
  expect(result).toMatchObject({ status: 'failed', error: 'Bad "bad": it broke', failedNodes: ['bad'] });
});

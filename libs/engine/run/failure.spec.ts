import type { PlannedNode } from '../plan-types';
import { failureOf, runError } from './failure';

it.each([
  ['no such file', 'Conv2d "c1": no such file'],
  ['Conv2d: expected 4D input', 'Conv2d "c1": expected 4D input'],
  ["Conv2d 'inner': expected 4D input", `Conv2d "c1": Conv2d 'inner': expected 4D input`],
  ['Conv2d "c1": param "stride" must be at least 1', 'Conv2d "c1": param "stride" must be at least 1'],
])('names the node of %j once', (message, text) => {
  const node = { id: 'c1', type: 'Conv2d' } as PlannedNode;
  expect(runError(node, failureOf(new Error(message)))).toBe(text);
});

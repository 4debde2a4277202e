import * as fc from 'fast-check';
import { eventFrame } from './frames';

const event = (type: string, payload: unknown) => ({ type, cursor: 7, ts: 0, payload: JSON.stringify(payload) });

it.each([
  ['execution_complete', null, { type: 'execution_complete', run_id: 'r', cursor: 7 }],
  ['execution_start', { run_id: 'r' }, { type: 'execution_start', run_id: 'r', cursor: 7 }],
  ['artifact', {}, { type: 'artifact', run_id: 'r', cursor: 7 }],
  ['node_status', { node_id: '"run_id"' }, { type: 'node_status', run_id: 'r', cursor: 7, node_id: '"run_id"' }],
])('makes a flat frame of %s', (type, payload, frame) => {
  const text = eventFrame('r', event(type, payload));
  expect(JSON.parse(text)).toEqual(frame);
  expect(text.match(/"run_id":/g)).toHaveLength(1);
});

it('carries every payload, and never lets it say which event it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (payload) => {
      const frame = JSON.parse(eventFrame('r', event('t', payload))) as Record<string, unknown>;
      const {
        type: _,
        run_id: __,
        cursor: ___,
        ...rest
      } = JSON.parse(JSON.stringify(payload)) as Record<string, unknown>;
      expect(frame).toMatchObject(rest);
    }),
  );
});

import type { PresetDefinition } from '@cdui/protocol';
import { planPreset } from './plan-preset';
import { preset } from './testing/graphs';
import { samplePresets, sampleRegistry } from './testing/sample-registry';

const options = { registry: sampleRegistry(), presets: samplePresets() };
const codes = (definition: PresetDefinition) => {
  const result = planPreset(definition, options);
  return 'issues' in result ? result.issues.map((issue) => issue.code) : 'planned';
};

it('plans all nodes, with the first input supplied and the first output named', () => {
  const result = planPreset(
    preset(
      'P',
      [
        { id: 'a', type: 'Layer', params: { width: 2 } },
        { id: 'n', type: 'preset:Two Layers' },
        { id: 'side', type: 'Print' },
      ],
      ['a.tensor -> n.tensor', 'n.tensor -> side.value'],
      {
        inputs: ['x: a.tensor'],
        outputs: ['y: n.tensor', 'z: a.tensor'],
      },
    ),
    options,
  );
  expect(result).toMatchObject({
    input: { node: 'preset__a', port: 'tensor' },
    output: { node: 'preset__n__second', port: 'tensor' },
    plan: {
      nodes: [
        { id: 'preset__a', inputs: {} },
        { id: 'preset__n__first' },
        { id: 'preset__n__second' },
        { id: 'preset__side' },
      ],
    },
  });
});

it.each([
  ['no input', preset('P', [{ id: 'a', type: 'Source' }], [], { outputs: ['y: a.tensor'] }), ['malformed_preset']],
  ['no output', preset('P', [{ id: 'a', type: 'Layer' }], [], { inputs: ['x: a.tensor'] }), ['malformed_preset']],
  [
    'a second input that is required',
    preset('P', [{ id: 't', type: 'Train' }], [], { inputs: ['m: t.model', 'd: t.data'], outputs: ['m: t.model'] }),
    ['missing_input'],
  ],
  [
    'an unknown inner port',
    preset('P', [{ id: 'a', type: 'Print' }], [], { inputs: ['x: a.nope'], outputs: ['y: a.value'] }),
    ['missing_input', 'unknown_input_port'],
  ],
  [
    'an unknown inner node',
    preset('P', [{ id: 'a', type: 'Layer' }], [], { inputs: ['x: b.tensor'], outputs: ['y: a.tensor'] }),
    ['malformed_preset'],
  ],
  [
    'a cycle',
    preset('P', [{ id: 'a', type: 'Join' }], ['a.tensor -> a.b'], { inputs: ['x: a.a'], outputs: ['y: a.tensor'] }),
    ['cycle'],
  ],
  [
    'itself',
    preset('P', [{ id: 'a', type: 'preset:P' }], [], { inputs: ['x: a.x'], outputs: ['y: a.y'] }),
    ['preset_too_deep'],
  ],
])('refuses a preset with %s', (_name, definition, expected) => {
  expect(codes(definition)).toEqual(expected);
});

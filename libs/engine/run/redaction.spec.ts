import type { NodeSpec, PortValue } from '@cdui/node-sdk';
import { param } from '@cdui/node-sdk';
import type { PresetDefinition } from '@cdui/protocol';
import fc from 'fast-check';
import { Redactor } from './redaction';
import { Harness, planned, planOf, presetsOf, registryOf } from './testing/harness';

const secret = 'CANARY0123456789abcdef';
const base = { category: 'Test', description: '' };

/** A node with a secret that does with it what the test says. */
function keeper(act: (key: string) => Readonly<Record<string, PortValue>>): NodeSpec {
  return {
    ...base,
    name: 'Keeper',
    inputs: { x: 'ANY?' },
    outputs: { list: 'LIST', object: 'ANY', text: 'STRING' },
    params: { key: param.secret() },
    execute: (context, _inputs, params) => {
      const key = params.text('key');
      context.log(`key ${key}`);
      return act(key);
    },
  };
}

async function everythingSaid(harness: Harness, run: Parameters<Harness['run']>[0]): Promise<string> {
  const result = await harness.run(run);
  const { statuses, warnings, artifacts, text, metrics } = harness.observer;
  return JSON.stringify([result, statuses, warnings, artifacts, text, metrics]);
}

describe('secrets in what a run says', () => {
  it.each([100, 170, 180, 185, 190, 194])(
    'are hidden where a description of %i characters cuts them',
    async (length) => {
      const pad = 'x'.repeat(length);
      const spec = keeper((key) => ({ list: [pad + key], object: { a: pad + key }, text: pad + key }));
      const plan = planOf(planned('k', 'Keeper', {}, { key: secret }));
      expect(await everythingSaid(new Harness(), { registry: registryOf(spec), plan })).not.toContain('CANA');
    },
  );

  it.each(['code', 'name'])('are hidden in the %s of an error', async (member) => {
    const spec = keeper((key) => {
      throw Object.assign(new Error('bad'), { [member]: key });
    });
    const plan = planOf(planned('k', 'Keeper', {}, { key: secret }));
    expect(await everythingSaid(new Harness(), { registry: registryOf(spec), plan })).not.toContain('CANA');
  });

  it('are hidden when they stand in an installed preset that a node runs', async () => {
    const preset: PresetDefinition = {
      preset_name: 'P',
      nodes: [{ id: 'k', type: 'Keeper', params: { key: secret } }],
      edges: [],
      exposed_inputs: [{ name: 'x', internal_node: 'k', internal_port: 'x' }],
      exposed_outputs: [{ name: 'y', internal_node: 'k', internal_port: 'text' }],
      exposed_params: [],
    };
    const caller: NodeSpec = {
      ...base,
      name: 'Caller',
      outputs: { y: 'ANY' },
      execute: async (context) => ({ y: await context.runPreset('P', 1, 0) }),
    };
    const run = {
      registry: registryOf(
        keeper((key) => ({ text: key })),
        caller,
      ),
      presets: presetsOf(preset),
      plan: planOf(planned('c', 'Caller')),
    };
    const said = await everythingSaid(new Harness(), run);
    expect(said).toContain('[secret]');
    expect(said).not.toContain('CANA');
  });
});

describe('Redactor', () => {
  it('leaves not four characters in a row of a secret, wherever a text is cut', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{0,40}$/), fc.nat(60), (before, length) => {
        const cut = `${(before + secret).slice(0, length)}...`;
        expect(new Redactor([secret]).text(cut)).not.toMatch(/CANA/);
      }),
    );
  });

  it('takes secrets of any length and of any characters', () => {
    const long = '({[*+?\\|"\n'.repeat(1_000);
    expect(new Redactor([long, 'ab']).text(`<${long}> ab ${long.slice(0, 100)}...`)).toBe(
      '<[secret]> [secret] [secret]...',
    );
  });
});

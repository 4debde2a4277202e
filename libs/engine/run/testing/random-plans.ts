import fc from 'fast-check';
import type { NodeSpec, PortValue } from '@cdui/node-sdk';
import { isTensor, param } from '@cdui/node-sdk';
import type { Plan, PlannedNode } from '../../plan-types';
import { planned, planOf } from './harness';

const PORTS = ['a', 'b', 'c'] as const;

/** What a node of a random graph does with the values that it reads. */
export type Deed = 'number' | 'tensor' | 'pass' | 'nest' | 'fail';
const DEEDS: readonly Deed[] = ['number', 'tensor', 'pass', 'nest', 'fail'];

/** A node that does its deed: its result depends on params, and on every input and where it entered. */
export const work: NodeSpec = {
  name: 'Work',
  category: 'Test',
  description: '',
  inputs: { a: 'ANY?', b: 'ANY?', c: 'ANY?' },
  outputs: { value: 'ANY' },
  params: { deed: param.text('number'), salt: param.int(0) },
  execute: async ({ scope }, inputs, params) => {
    // Nodes interleave as real ones do.
    await new Promise((resolve) => setImmediate(resolve));
    const values = PORTS.map((port) => inputs.raw(port));
    const number = values.reduce<number>((sum, value, index) => sum * (index + 3) + sizeOf(value), params.int('salt'));
    const tensor = () => scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(number % 1_000) });
    switch (params.text('deed') as Deed) {
      case 'number':
        return { value: number % 1_000 };
      case 'tensor':
        return { value: tensor() };
      case 'pass':
        return { value: values.find((value) => value !== null) ?? null };
      case 'nest':
        return { value: [...values, { made: tensor() }] };
      case 'fail':
        throw new Error('it broke');
    }
  },
};

function sizeOf(value: PortValue): number {
  if (typeof value === 'number') return value + 1;
  if (value === null) return 0;
  if (isTensor(value)) return (value as unknown as { data: Float32Array }).data[0] ?? 0;
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum * 2 + sizeOf(item as PortValue), 5) : 1;
}

/** Random graphs in topological order: each node reads from up to three earlier ones. */
export function plans(deeds: readonly Deed[] = DEEDS, size = 12): fc.Arbitrary<Plan> {
  const node = fc.record({
    deed: fc.constantFrom(...deeds),
    salt: fc.integer({ min: 0, max: 3 }),
    sources: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: PORTS.length }),
  });
  return fc.array(node, { minLength: 1, maxLength: size }).map((drafts) =>
    planOf(
      ...drafts.map(({ deed, salt, sources }, index) => {
        const inputs = index === 0 ? [] : sources.map((at, port) => [PORTS[port], `n${Math.floor(at * index)}.value`]);
        return planned(`n${index}`, 'Work', Object.fromEntries(inputs), { deed, salt });
      }),
    ),
  );
}

/** The plan with other salts in the nodes of these positions. */
export function changed(plan: Plan, positions: readonly number[]): Plan {
  const nodes = plan.nodes.map((node, index): PlannedNode => {
    const salt = Number(node.params['salt']) + (positions.includes(index) ? 1 : 0);
    return { ...node, params: { ...node.params, salt } };
  });
  return { ...plan, nodes };
}

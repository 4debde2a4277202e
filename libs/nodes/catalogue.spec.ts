import { createHash } from 'node:crypto';
import { defineNode, param } from '@cdui/node-sdk';
import fc from 'fast-check';
import { canonicalJson } from '@cdui/protocol';
import { builtinNodes, catalogueOf, createNodeRegistry } from './index';

const node = (name: string, description = 'A node.') =>
  defineNode({
    name,
    category: 'Tests',
    description,
    outputs: { y: 'SCALAR' },
    params: { x: param.float(1e-5) },
    execute: () => ({ y: 1 }),
  });

describe('canonicalJson', () => {
  it('orders members, prints numbers as ECMAScript does and leaves no space', () => {
    expect(
      canonicalJson({ b: [1e21, 1e-7, -0, 0.1], a: { '\u20ac': null, '\r': true, é: 'a\u0007"' }, c: undefined }),
    ).toBe('{"a":{"\\r":true,"é":"a\\u0007\\"","€":null},"b":[1e+21,1e-7,0,0.1]}');
  });

  it('gives every JSON value one text, whatever the order of its members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });

  it('refuses numbers that JSON does not have', () => {
    expect(() => canonicalJson([NaN])).toThrow(TypeError);
  });
});

describe('catalogueOf', () => {
  it('hashes the canonical JSON of {type: definition}', () => {
    const { definition } = node('A');
    const text = JSON.stringify({
      A: {
        category: 'Tests',
        description: 'A node.',
        inputs: [],
        node_name: 'A',
        outputs: [{ data_type: 'SCALAR', description: '', name: 'y', optional: false }],
        params: [
          {
            advanced: false,
            default: 0.00001,
            description: '',
            max_value: null,
            min_value: null,
            name: 'x',
            options: [],
            param_type: 'float',
            visible_when: null,
          },
        ],
        provider: 'builtin',
      },
    });
    const catalogue = catalogueOf(createNodeRegistry([node('A')]));
    expect(catalogue.definitions).toEqual([definition]);
    expect(catalogue.catalogHash).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('does not depend on the order of types, and shows which one differs', () => {
    const one = catalogueOf(createNodeRegistry([node('A'), node('B')]));
    const two = catalogueOf(createNodeRegistry([node('B'), node('A')]));
    const other = catalogueOf(createNodeRegistry([node('A'), node('B', 'Another one.')]));
    expect(two).toEqual(one);
    expect(other.catalogHash).not.toBe(one.catalogHash);
    expect(other.nodeTypeHashes['A']).toBe(one.nodeTypeHashes['A']);
    expect(other.nodeTypeHashes['B']).not.toBe(one.nodeTypeHashes['B']);
  });

  it('covers every built-in node', () => {
    const catalogue = catalogueOf(createNodeRegistry(builtinNodes));
    expect(Object.keys(catalogue.nodeTypeHashes).sort()).toEqual(
      builtinNodes.map((type) => type.definition.node_name).sort(),
    );
    expect(catalogueOf(createNodeRegistry([...builtinNodes].reverse()))).toEqual(catalogue);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

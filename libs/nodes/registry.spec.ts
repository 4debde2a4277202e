import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeType } from '@cdui/node-sdk';
import { defineNode } from '@cdui/node-sdk';
import type { NodeDefinition, PortDefinition } from '@cdui/protocol';
import { builtinNodes, createNodeRegistry, SPECIFIED_TYPES } from './index';
import facts from './testing/nodes.fixture.json';

interface PortFact {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
}
interface ParamFact {
  readonly name: string;
  readonly type: string;
  readonly default: unknown;
  readonly min: number | null;
  readonly max: number | null;
  readonly options?: readonly string[];
  readonly visible_when?: Readonly<Record<string, unknown>>;
  /** Whether the specification leaves the default to us. */
  readonly default_open?: boolean;
}
interface NodeFacts {
  readonly category: string;
  readonly inputs: readonly PortFact[];
  readonly outputs: readonly PortFact[];
  readonly params: readonly ParamFact[];
  readonly cacheable: boolean;
  readonly owns_weights: boolean;
  readonly dynamic_outputs: boolean;
}
const FACTS = facts as unknown as Readonly<Record<string, NodeFacts>>;
/** Specified ports and params that are left out because what they need is not there yet: definitions list only what works. */
const NOT_YET: Readonly<Record<string, readonly string[]>> = {
  Dataset: ['train_transform', 'eval_transform'],
  Transform: ['transform'],
  LRScheduler: ['max_lr', 'total_steps', 'warmup_steps'],
  TrainingLoop: ['grad_scaler_state', 'tensorboard', 'strategy', 'seed'],
};
/** Optional ports and params of ours beyond the specified ones. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  Dataset: ['limit'],
  CheckpointLoader: ['path'],
  ModelLoader: ['path'],
};
/** Defaults of ours: safetensors is the format of weights. */
const OUR_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ModelSaver: { path: 'model_weights.safetensors', format: 'safetensors' },
  CheckpointSaver: { path: 'checkpoint.safetensors' },
};
/** Nodes of our own, beyond the specification. */
const OWN = new Set(['TensorDataset']);

const specified = builtinNodes.filter((type) => !OWN.has(type.definition.node_name));
const portFacts = (node: string, ports: readonly PortDefinition[], facts: readonly PortFact[]): readonly PortFact[] =>
  ports
    .filter((port) => !(port.optional && isAdded(node, port.name, facts)))
    .map(({ name, data_type, optional }) => ({ name, type: data_type, optional }));

const isAdded = (node: string, name: string, facts: readonly { readonly name: string }[]): boolean =>
  (ADDED[node]?.includes(name) ?? false) && !facts.some((fact) => fact.name === name);

const available = <T extends { readonly name: string }>(node: string, items: readonly T[]): readonly T[] =>
  items.filter((item) => !NOT_YET[node]?.includes(item.name));

describe('the built-in nodes', () => {
  it.each(specified.map((type) => [type.definition.node_name, type] as const))(
    '%s is what the specification says',
    (name, type) => {
      const { definition } = type;
      const fact = FACTS[name];
      expect(fact).toBeDefined();
      if (!fact) return;
      expect(definition.category).toBe(fact.category);
      expect(definition.provider).toBe('builtin');
      expect(definition.description).toMatch(/\w.*\.$/s);
      expect(portFacts(name, definition.inputs, fact.inputs)).toEqual(available(name, fact.inputs));
      expect(portFacts(name, definition.outputs, fact.outputs)).toEqual(available(name, fact.outputs));
      expect(type.cacheable).toBe(fact.cacheable);
      expect(type.ownsWeights ?? false).toBe(fact.owns_weights);
      expect(type.outputsFor !== undefined).toBe(fact.dynamic_outputs);
      for (const param of available(name, fact.params)) checkParam(definition, param);
      const known = new Set(fact.params.map((param) => param.name));
      const unknown = definition.params.filter((param) => !known.has(param.name)).map((param) => param.name);
      expect(unknown.filter((param) => !isAdded(name, param, fact.params))).toEqual([]);
    },
  );

  it.each(builtinNodes.map((type) => [type.definition.node_name, type] as const))('%s has a behaviour test', (name) => {
    const used = new RegExp(`(?:runNode|describe|test|it)\\(\\s*['"\`]${name}\\b`);
    expect([name, used.test(SPEC_TEXT)]).toEqual([name, true]);
  });

  it('keep their ports when params are broken', () => {
    for (const type of builtinNodes) {
      for (const params of [{}, { chunks: 'many' }, { chunks: -1 }, { chunks: 1e9 }]) {
        expect(() => [type.inputsFor?.(params), type.outputsFor?.(params)]).not.toThrow();
      }
    }
  });
});

// A specified select may list fewer options: those that work. Nothing else may differ.
function checkParam({ node_name, params }: NodeDefinition, fact: ParamFact): void {
  const param = params.find(({ name }) => name === fact.name);
  expect([fact.name, param?.param_type, param?.min_value, param?.max_value]).toEqual([
    fact.name,
    fact.type,
    fact.min,
    fact.max,
  ]);
  if (!param) return;
  const initial = OUR_DEFAULTS[node_name]?.[fact.name] ?? fact.default;
  if (!fact.default_open) expect([fact.name, param.default]).toEqual([fact.name, initial]);
  const options = (fact.options ?? []).filter((option) => param.options.includes(option));
  expect([fact.name, param.options]).toEqual([fact.name, options]);
  if (fact.visible_when) expect(param.visible_when).toEqual(fact.visible_when);
}

const SPEC_TEXT = specFiles(__dirname)
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

function specFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return specFiles(path);
    return entry.name.endsWith('.spec.ts') && path !== __filename ? [path] : [];
  });
}

describe('createNodeRegistry', () => {
  const node = (name: string): NodeType =>
    defineNode({ name, category: 'Tests', description: '', execute: () => ({}) });

  it('finds types by name and does not change', () => {
    const types = [node('B'), node('A')];
    const registry = createNodeRegistry(types);
    types.push(node('C'));
    expect(registry.names()).toEqual(['A', 'B']);
    expect(registry.get('A')?.definition.node_name).toBe('A');
    expect(registry.get('C')).toBeUndefined();
    expect(() => (registry.names() as string[]).push('D')).toThrow(TypeError);
  });

  it('knows specified types that are not there yet', () => {
    const registry = createNodeRegistry(builtinNodes);
    expect(registry.isReserved('LSTM')).toBe(true);
    expect(registry.isReserved('PythonScript')).toBe(true);
    expect(registry.isReserved('Conv2d')).toBe(false);
    expect(registry.isReserved('NoSuchNode')).toBe(false);
    expect(specified.filter((type) => !SPECIFIED_TYPES.has(type.definition.node_name))).toEqual([]);
  });

  it('refuses two types of one name', () => {
    expect(() => createNodeRegistry([node('A'), node('A')])).toThrow(
      expect.objectContaining({ code: 'duplicate_node_type' }),
    );
  });
});

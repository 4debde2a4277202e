import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeType } from '@cdui/node-sdk';
import { defineNode } from '@cdui/node-sdk';
import type { ParamDefinition, PortDefinition } from '@cdui/protocol';
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
  LRScheduler: ['warmup_steps'],
  TrainingLoop: ['grad_scaler_state'],
};
/** Defaults of ours: weights are kept as safetensors. */
const OUR_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ModelSaver: { path: 'model_weights.safetensors' },
  ModelLoader: { path: 'model_weights.safetensors' },
  CheckpointSaver: { path: 'checkpoint.safetensors' },
  CheckpointLoader: { path: 'checkpoint.safetensors' },
};
/** Nodes of our own, beyond the specification. */
const OWN = new Set(['TensorDataset']);

const specified = builtinNodes.filter((type) => !OWN.has(type.definition.node_name));
const portFacts = (ports: readonly PortDefinition[]): readonly PortFact[] =>
  ports.map(({ name, data_type, optional }) => ({ name, type: data_type, optional }));

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
      expect(portFacts(definition.inputs)).toEqual(fact.inputs);
      expect(portFacts(definition.outputs)).toEqual(fact.outputs);
      expect(type.cacheable).toBe(fact.cacheable);
      expect(type.ownsWeights ?? false).toBe(fact.owns_weights);
      expect(type.outputsFor !== undefined).toBe(fact.dynamic_outputs);
      for (const param of fact.params)
        checkParam(
          definition.params.find(({ name }) => name === param.name),
          param,
        );
      const known = new Set(fact.params.map((param) => param.name));
      expect(definition.params.filter((param) => !known.has(param.name))).toEqual([]);
    },
  );

  it.each(builtinNodes.map((type) => [type.definition.node_name, type] as const))('%s has a behaviour test', (name) => {
    expect(SPEC_TEXT).toMatch(new RegExp(`(?:runNode|describe|test|it)\\(\\s*['"\`]${name}\\b`));
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
function checkParam(param: ParamDefinition | undefined, fact: ParamFact): void {
  expect(param).toBeDefined();
  if (!param) return;
  expect([param.name, param.param_type, param.min_value, param.max_value]).toEqual([
    fact.name,
    fact.type,
    fact.min,
    fact.max,
  ]);
  if (!fact.default_open) expect([param.name, param.default]).toEqual([fact.name, fact.default]);
  expect([param.name, (fact.options ?? []).filter((option) => param.options.includes(option))]).toEqual([
    param.name,
    param.options,
  ]);
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

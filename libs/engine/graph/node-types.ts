import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { CatalogView, GraphIssue, NodeDefinition, Params, PortDefinition } from '@cdui/protocol';
import type { FlatNode } from './flat-graph';

/** A view of registries, dynamic ports and checks included. A bare plugin name finds its type while only one plugin has it. */
export function catalogView(registry: NodeRegistry, presets: PresetRegistry): CatalogView {
  const find = (type: string) => registry.get(type) ?? registry.get(qualified(registry, type) ?? '');
  return {
    definition: (type) => find(type)?.definition,
    preset: (name) => presets.get(name),
    reserved: (type) => registry.isReserved(type),
    inputs: (type, params) => find(type)?.inputsFor?.(params),
    outputs: (type, params) => find(type)?.outputsFor?.(params),
    check: (type, params, nodeId) => find(type)?.check?.(params, nodeId) ?? [],
  };
}

function qualified(registry: NodeRegistry, type: string): string | null {
  if (type.includes(':')) return null;
  const matches = registry.names().filter((name) => name.endsWith(`:${type}`));
  return matches.length === 1 ? (matches[0] as string) : null;
}

/** What a catalogue says about one node. */
export interface TypedNode {
  readonly definition: NodeDefinition;
  /** The file's params over the defaults. */
  readonly params: Params;
  readonly inputs: readonly PortDefinition[];
  readonly outputs: readonly PortDefinition[];
  /** What a port rule threw: an author's mistake, reported with the node's other problems. */
  readonly failure: string | null;
}

/** Looks nodes up in a catalogue, each once. */
export class NodeTypes {
  private readonly known = new Map<FlatNode, TypedNode | null>();
  private readonly defaults = new Map<NodeDefinition, Params>();
  private readonly definitions = new Map<string, NodeDefinition | undefined>();

  constructor(private readonly catalog: CatalogView) {}

  /** Null for unknown types and for instances that could not be opened. */
  of(node: FlatNode): TypedNode | null {
    const known = this.known.get(node);
    if (known !== undefined) return known;
    const definition = node.broken ? undefined : this.definition(node.type);
    const typed = definition ? this.describe(node, definition) : null;
    this.known.set(node, typed);
    return typed;
  }

  isReserved(type: string): boolean {
    return this.catalog.reserved?.(type) ?? false;
  }

  /** What the type itself finds wrong with the node's params. */
  check(node: FlatNode, typed: TypedNode): readonly GraphIssue[] {
    return this.catalog.check?.(typed.definition.node_name, typed.params, node.id) ?? [];
  }

  private definition(type: string): NodeDefinition | undefined {
    if (!this.definitions.has(type)) this.definitions.set(type, this.catalog.definition(type));
    return this.definitions.get(type);
  }

  private defaultsOf(definition: NodeDefinition): Params {
    let defaults = this.defaults.get(definition);
    if (defaults === undefined) {
      defaults = Object.fromEntries(definition.params.map((param) => [param.name, param.default]));
      this.defaults.set(definition, defaults);
    }
    return defaults;
  }

  private describe(node: FlatNode, definition: NodeDefinition): TypedNode {
    const params = { ...this.defaultsOf(definition), ...node.params };
    const name = definition.node_name;
    try {
      const inputs = this.catalog.inputs?.(name, params) ?? definition.inputs;
      const outputs = this.catalog.outputs?.(name, params) ?? definition.outputs;
      return { definition, params, inputs, outputs, failure: null };
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      return { definition, params, inputs: definition.inputs, outputs: definition.outputs, failure };
    }
  }
}

import type { NodeRegistry, NodeType } from '@cdui/node-sdk';
import { CodedError } from '@cdui/protocol';
import { SPECIFIED_TYPES } from './specified-types';

/**
 * A registry of these types. It never changes afterwards, so that a run can keep the one it began with.
 *
 * @throws CodedError `duplicate_node_type` when two types have one name
 */
export function createNodeRegistry(types: readonly NodeType[]): NodeRegistry {
  const byName = new Map<string, NodeType>();
  for (const type of types) {
    const name = type.definition.node_name;
    if (byName.has(name)) {
      throw new CodedError('duplicate_node_type', `Two node types have the name "${name}": rename one of them`, {
        type: name,
        providers: [byName.get(name)?.definition.provider, type.definition.provider],
      });
    }
    byName.set(name, type);
  }
  const names = Object.freeze([...byName.keys()].sort());
  return Object.freeze({
    get: (type: string) => byName.get(type),
    names: () => names,
    isReserved: (type: string) => !byName.has(type) && SPECIFIED_TYPES.has(type),
  });
}

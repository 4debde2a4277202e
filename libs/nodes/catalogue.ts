import { createHash } from 'node:crypto';
import type { NodeRegistry } from '@cdui/node-sdk';
import type { NodeDefinition } from '@cdui/protocol';
import { canonicalJson } from '@cdui/protocol';

/** What a registry publishes, with the hashes by which two machines find out whether they have the same node types. */
export interface Catalogue {
  readonly definitions: readonly NodeDefinition[];
  /** sha256 of the canonical JSON of `{type: definition}`. */
  readonly catalogHash: string;
  /** Type -> sha256 of the canonical JSON of its definition: shows which type differs. */
  readonly nodeTypeHashes: Readonly<Record<string, string>>;
}

/** Describes a registry. Equal definitions give equal hashes whatever the order of registration. */
export function catalogueOf(registry: NodeRegistry): Catalogue {
  const definitions = registry.names().flatMap((name) => registry.get(name)?.definition ?? []);
  return {
    definitions,
    catalogHash: sha256(Object.fromEntries(definitions.map((definition) => [definition.node_name, definition]))),
    nodeTypeHashes: Object.fromEntries(definitions.map((definition) => [definition.node_name, sha256(definition)])),
  };
}

function sha256(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

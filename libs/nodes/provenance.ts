import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeRegistry } from '@cdui/node-sdk';

/** Where a node's code comes from. */
export interface ProvenanceRecord {
  readonly node_id: string;
  readonly type: string;
  /** sha256 of the canonical JSON of the type's definition. */
  readonly definition_hash: string;
  readonly source: 'builtin' | 'custom';
  /** The custom node file and its sha256; null for built-in types, and when the file is gone. */
  readonly file: string | null;
  readonly file_hash: string | null;
}

const CUSTOM = 'custom:';

/** A record for each of the nodes. @param hashes type -> sha256 of its definition */
export function provenanceOf(
  nodes: readonly { readonly id: string; readonly type: string }[],
  registry: NodeRegistry,
  hashes: Readonly<Record<string, string>>,
  customNodesDir: string | null,
): readonly ProvenanceRecord[] {
  const fileHashes = new Map<string, string | null>();
  const hashOf = (file: string): string | null => {
    const known = fileHashes.get(file);
    if (known !== undefined) return known;
    const hash = customNodesDir === null ? null : sha256OfFile(join(customNodesDir, file));
    fileHashes.set(file, hash);
    return hash;
  };
  return nodes.map(({ id, type }) => {
    const provider = registry.get(type)?.definition.provider ?? '';
    const file = provider.startsWith(CUSTOM) ? provider.slice(CUSTOM.length) : null;
    return {
      node_id: id,
      type,
      definition_hash: hashes[type] ?? '',
      source: file === null ? 'builtin' : 'custom',
      file,
      file_hash: file === null ? null : hashOf(file),
    };
  });
}

function sha256OfFile(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}

import { createHash } from 'node:crypto';
import type { NodeType } from '@cdui/node-sdk';
import type { Params, RunFolders } from '@cdui/protocol';
import { canonicalJson } from '@cdui/protocol';
import type { PlannedNode } from '../plan-types';
import { fingerprint } from './fingerprint';

/**
 * Keys under which a run's results may be found again: sha256 of the canonical JSON of everything a result depends on. A node has a key
 * only if its type is cacheable and every node it reads from has one.
 */
export class CacheKeys {
  private readonly keys = new Map<string, string>();

  constructor(
    private readonly run: { readonly device: string; readonly deterministic: boolean; readonly folders: RunFolders },
  ) {}

  /** Computes and remembers the key; null when the node's result must not be used again. Upstream nodes come first. */
  async keyOf(node: PlannedNode, type: NodeType, params: Params, seed: number | null): Promise<string | null> {
    if (!type.cacheable) return null;
    const inputs: Record<string, readonly [key: string, port: string]> = {};
    for (const [port, source] of Object.entries(node.inputs)) {
      const key = this.keys.get(source.node);
      if (key === undefined) return null;
      inputs[port] = [key, source.port];
    }
    const files = type.files?.(params, this.run.folders) ?? [];
    const key = digest({
      type: node.type,
      // A custom type that was edited and loaded again is another type, whatever its definition says.
      version: versionOf(type),
      params,
      inputs,
      device: this.run.device,
      deterministic: this.run.deterministic,
      seed,
      files: await Promise.all(files.map(fingerprint)),
    });
    if (key !== null) this.keys.set(node.id, key);
    return key;
  }
}

function digest(value: unknown): string | null {
  try {
    return createHash('sha256').update(canonicalJson(value)).digest('hex');
  } catch {
    // Params that JSON cannot express (not-a-number) cannot be compared either.
    return null;
  }
}

const versions = new WeakMap<NodeType, number>();
let lastVersion = 0;

function versionOf(type: NodeType): number {
  const known = versions.get(type);
  if (known !== undefined) return known;
  lastVersion += 1;
  versions.set(type, lastVersion);
  return lastVersion;
}

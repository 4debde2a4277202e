import { createHash } from 'node:crypto';
import type { NodeRegistry, NodeType, PresetRegistry } from '@cdui/node-sdk';
import type { Params, RunFolders } from '@cdui/protocol';
import { canonicalJson } from '@cdui/protocol';
import { PRESET_PREFIX } from '../graph/shape';
import type { PlannedNode } from '../plan-types';
import { fingerprint } from './fingerprint';

/**
 * Keys under which a run's results may be found again: sha256 of the canonical JSON of everything a result depends on. A node has a key
 * only if its type is cacheable and every node it reads from has one.
 */
export class CacheKeys {
  private readonly keys = new Map<string, string>();

  constructor(
    private readonly run: {
      readonly device: string;
      readonly deterministic: boolean;
      readonly folders: RunFolders;
      readonly registry: NodeRegistry;
      readonly presets: PresetRegistry;
    },
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
    const called = type.needs?.runsPreset;
    const presets = called === undefined ? [] : this.presetContents(params[called], new Set());
    if (presets === null) return null;
    const files = type.files?.(params, this.run.folders) ?? [];
    const key = digest({
      // Two nodes that draw at random may differ in nothing else.
      id: node.id,
      type: node.type,
      // A custom type that was edited and loaded again is another type, whatever its definition says.
      version: versionOf(type),
      params,
      inputs,
      device: this.run.device,
      deterministic: this.run.deterministic,
      seed,
      presets,
      files: await Promise.all(files.map(fingerprint)),
    });
    if (key !== null) this.keys.set(node.id, key);
    return key;
  }

  /** What an installed preset computes: its definition and those of presets in it; null when something in it has no key of its own. */
  private presetContents(name: unknown, seen: Set<string>): readonly unknown[] | null {
    const definition = typeof name === 'string' ? this.run.presets.get(name) : undefined;
    if (!definition) return null;
    if (seen.has(definition.preset_name)) return [];
    seen.add(definition.preset_name);
    const contents: unknown[] = [definition];
    for (const { type: name } of definition.nodes) {
      const inner = name.startsWith(PRESET_PREFIX)
        ? this.presetContents(name.slice(PRESET_PREFIX.length), seen)
        : this.typeContents(name);
      if (inner === null) return null;
      contents.push(...inner);
    }
    return contents;
  }

  private typeContents(name: string): readonly unknown[] | null {
    const type = this.run.registry.get(name);
    const simple = type?.cacheable === true && type.files === undefined && type.needs?.runsPreset === undefined;
    return simple ? [versionOf(type)] : null;
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

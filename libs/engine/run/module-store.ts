import type { ModuleRef } from '@cdui/tensor/runtime';
import type { PlannedNode } from '../plan-types';
import { bytesOf } from './handles';

export interface ModuleLimits {
  readonly modules: number;
  readonly bytes: number;
}

/** `CODEFYUI_NODE_STATE_STORE_MAX_MB` overrides the bytes. */
export const DEFAULT_MODULE_LIMITS: ModuleLimits = { modules: 200, bytes: 1024 * 1024 * 1024 };

/** A node whose modules are kept. */
export interface ModuleOwner {
  readonly graphId: string;
  /** Id in the expanded graph. */
  readonly nodeId: string;
}

interface Entry extends ModuleOwner {
  /** The block in the file that the node lies in, or the node itself. */
  readonly fileId: string;
  readonly structure: string;
  readonly module: ModuleRef;
  readonly bytes: number;
}

/**
 * Modules that outlive the runs of one canvas session, by graph, node and structure; the least recently used goes first. They belong to one runtime:
 * clear it before that runtime closes.
 */
export class ModuleStore {
  private readonly entries = new Map<string, Entry>();
  private total = 0;

  constructor(private readonly limits: ModuleLimits = DEFAULT_MODULE_LIMITS) {}

  get size(): number {
    return this.entries.size;
  }

  get bytes(): number {
    return this.total;
  }

  find({ graphId, nodeId }: ModuleOwner, structure: string): ModuleRef | null {
    const key = keyOf(graphId, nodeId, structure);
    const entry = this.entries.get(key);
    if (!entry) return null;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.module;
  }

  /** Makes these, by structure, the modules of the node: those that it had for another structure are dropped. Takes references of its own. */
  replace(graphId: string, node: Pick<PlannedNode, 'id' | 'origin'>, modules: ReadonlyMap<string, ModuleRef>): void {
    for (const [structure, module] of modules) this.put(graphId, node, structure, module.retain());
    for (const [key, { graphId: graph, nodeId, structure }] of [...this.entries]) {
      if (graph === graphId && nodeId === node.id && !modules.has(structure)) this.drop(key);
    }
    while (this.entries.size > this.limits.modules || this.total > this.limits.bytes) this.dropOldest();
  }

  /** Drops the modules of a graph, or of some of its nodes (a block's id means all nodes in it). How many there were. */
  reset(graphId: string, nodeIds?: readonly string[]): number {
    const wanted = nodeIds && new Set(nodeIds);
    let dropped = 0;
    for (const [key, entry] of [...this.entries]) {
      if (entry.graphId !== graphId) continue;
      if (wanted && !wanted.has(entry.nodeId) && !wanted.has(entry.fileId)) continue;
      this.drop(key);
      dropped += 1;
    }
    return dropped;
  }

  /** Whose modules are kept, one entry for each module. */
  list(): readonly ModuleOwner[] {
    return [...this.entries.values()].map(({ graphId, nodeId }) => ({ graphId, nodeId }));
  }

  clear(): void {
    for (const key of [...this.entries.keys()]) this.drop(key);
  }

  private put(graphId: string, node: Pick<PlannedNode, 'id' | 'origin'>, structure: string, module: ModuleRef): void {
    const key = keyOf(graphId, node.id, structure);
    this.drop(key);
    const bytes = bytesOf(module);
    this.entries.set(key, { graphId, nodeId: node.id, fileId: node.origin.nodeId, structure, module, bytes });
    this.total += bytes;
  }

  private drop(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.total -= entry.bytes;
    entry.module.release();
  }

  private dropOldest(): void {
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.drop(oldest);
  }
}

function keyOf(graphId: string, nodeId: string, structure: string): string {
  return JSON.stringify([graphId, nodeId, structure]);
}

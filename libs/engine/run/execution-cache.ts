import type { OutputEntry, PortFacts } from '@cdui/protocol';
import { handlesOf } from '@cdui/node-sdk';
import type { Handle, Scope } from '@cdui/tensor/runtime';
import type { Outputs } from './handles';
import { bytesOf, handlesOfOutputs, hold, release } from './handles';

/** A node's result as it may be used again. */
export interface CachedResult {
  readonly outputs: Outputs;
  readonly shown: readonly OutputEntry[];
  readonly ports: readonly PortFacts[];
}

interface Entry {
  readonly result: CachedResult;
  readonly handles: readonly Handle[];
  readonly bytes: number;
}

export interface CacheLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** `CODEFYUI_EXECUTION_CACHE_MAX_MB` overrides the bytes. */
export const DEFAULT_CACHE_LIMITS: CacheLimits = { entries: 256, bytes: 1024 * 1024 * 1024 };

/**
 * Results of earlier runs of one canvas session, by key; the least recently used goes first. Its handles belong to one runtime: clear it
 * before that runtime closes.
 */
export class ExecutionCache {
  private readonly entries = new Map<string, Entry>();
  private total = 0;

  constructor(private readonly limits: CacheLimits = DEFAULT_CACHE_LIMITS) {}

  get size(): number {
    return this.entries.size;
  }

  get bytes(): number {
    return this.total;
  }

  get(key: string): CachedResult | null {
    const entry = this.entries.get(key);
    if (!entry) return null;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.result;
  }

  /** @param scope of the node, still open */
  put(key: string, result: CachedResult, scope: Scope): void {
    this.drop(key);
    const handles = handlesOfOutputs(result.outputs);
    const bytes = sizeOf(result);
    if (bytes > this.limits.bytes || this.limits.entries < 1) return;
    hold(handles, scope);
    this.entries.set(key, { result, handles, bytes });
    this.total += bytes;
    while (this.entries.size > this.limits.entries || this.total > this.limits.bytes) this.dropOldest();
  }

  drop(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.total -= entry.bytes;
    release(entry.handles);
  }

  clear(): void {
    for (const key of [...this.entries.keys()]) this.drop(key);
  }

  private dropOldest(): void {
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.drop(oldest);
  }
}

/** Bytes of the tensors, weights and texts that the result keeps alive. */
function sizeOf(result: CachedResult): number {
  let bytes = 0;
  for (const value of Object.values(result.outputs)) {
    for (const handle of handlesOf(value)) bytes += bytesOf(handle);
    if (typeof value === 'string') bytes += value.length * 2;
  }
  return bytes + JSON.stringify([result.shown, result.ports]).length * 2;
}

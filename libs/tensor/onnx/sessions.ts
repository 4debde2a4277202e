import { InferenceSession } from 'onnxruntime-node';

/** How a graph is run, which decides how its session is made and how long it is kept. */
export type Use = 'eager' | 'training' | 'inference' | 'baked';

/**
 * Sessions kept per use. An eager session is small but their shapes are many; the others own threads and an arena, and a baked one a copy of
 * the weights.
 */
const CAPACITY: Readonly<Record<Use, number>> = { eager: 512, training: 24, inference: 24, baked: 4 };

interface Entry<T> {
  readonly session: InferenceSession;
  readonly info: T;
}

/** A compiled graph and what its user remembers about it. */
export type Compiled<T> = Entry<T>;

/**
 * The sessions of one runtime, least recently used first out. A session is released when it leaves, because the garbage collector does not
 * know how much memory hangs on it.
 */
export class SessionCache {
  private readonly pools: Readonly<Record<Use, Map<string, Entry<unknown>>>> = {
    eager: new Map(),
    training: new Map(),
    inference: new Map(),
    baked: new Map(),
  };

  constructor(public threads: number) {}

  get size(): number {
    return Object.values(this.pools).reduce((sum, pool) => sum + pool.size, 0);
  }

  find<T>(use: Use, key: string): Entry<T> | undefined {
    const pool = this.pools[use];
    const entry = pool.get(key);
    if (entry === undefined) return undefined;
    // A Map keeps the order of insertion: the entry used last goes to the end.
    pool.delete(key);
    pool.set(key, entry);
    return entry as Entry<T>;
  }

  async add<T>(use: Use, key: string, model: Uint8Array, info: T): Promise<Entry<T>> {
    const pool = this.pools[use];
    while (pool.size >= CAPACITY[use]) {
      const [oldest, entry] = pool.entries().next().value!;
      pool.delete(oldest);
      await entry.session.release();
    }
    const session = await InferenceSession.create(model, this.options(use));
    const entry = { session, info };
    pool.set(key, entry);
    return entry;
  }

  /** Releases everything; called only between commands. */
  async clear(): Promise<void> {
    for (const pool of Object.values(this.pools)) {
      const entries = [...pool.values()];
      pool.clear();
      for (const { session } of entries) await session.release();
    }
  }

  private options(use: Use): InferenceSession.SessionOptions {
    // Each session of several threads starts that many: eager ones have none. `all` inserts layout changes that pay for constant weights
    // only; memory patterns cost 30-45 MB and gain nothing.
    const eager = use === 'eager';
    return {
      intraOpNumThreads: eager ? 1 : this.threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: eager ? 'disabled' : use === 'baked' ? 'all' : 'basic',
      enableMemPattern: false,
      enableCpuMemArena: !eager,
      logSeverityLevel: 4,
    };
  }
}

import { InferenceSession } from './ort';

/** How a graph is run, which decides how its session is made and how long it is kept. */
export type Use = 'eager' | 'training' | 'inference' | 'baked';

/** A compiled graph and what its user remembers about it. */
export interface Compiled<T> {
  readonly session: InferenceSession;
  readonly info: T;
}

type Entry = Compiled<unknown>;

interface Capacity {
  readonly kept: number;
  /** Room for entries used once only, in pools that see many of those. */
  readonly trial?: number;
}

/**
 * An eager session is small but their shapes are many; the others own threads and an arena, and a baked one a copy of the weights.
 */
const CAPACITY: Readonly<Record<Use, Capacity>> = {
  eager: { kept: 448, trial: 64 },
  training: { kept: 12 },
  inference: { kept: 12 },
  baked: { kept: 4 },
};

/** How many keys of entries that were used once a pool remembers. */
const GHOSTS = 4096;

/**
 * Sessions of one use, least recently used first out. With a trial area it is the 2Q policy (T. Johnson, D. Shasha, VLDB 1994): what is used
 * once leaves soon and cannot push out what is used again and again; a key that comes back, even after its session has left,
 * is kept. A session is released when it leaves, because the garbage collector does not know how much memory hangs on it.
 */
export class Pool {
  // Maps keep the order of insertion: the first entry is the one to go.
  private readonly kept = new Map<string, Entry>();
  private readonly trial = new Map<string, Entry>();
  private readonly ghosts = new Set<string>();

  constructor(private readonly capacity: Capacity) {}

  find(key: string): Entry | undefined {
    const entry = this.kept.get(key);
    if (entry) {
      this.kept.delete(key);
      this.kept.set(key, entry);
      return entry;
    }
    const tried = this.trial.get(key);
    if (!tried) return undefined;
    this.trial.delete(key);
    this.kept.set(key, tried);
    return tried;
  }

  /** Makes room for one more entry; the caller adds it. */
  async makeRoom(): Promise<void> {
    const { kept, trial = 0 } = this.capacity;
    for (; this.kept.size >= kept;) await leave(this.kept);
    for (; trial > 0 && this.trial.size >= trial;) {
      this.ghosts.add(await leave(this.trial));
      if (this.ghosts.size > GHOSTS) this.ghosts.delete(this.ghosts.keys().next().value!);
    }
  }

  add(key: string, entry: Entry): void {
    const known = this.ghosts.delete(key);
    if (this.capacity.trial === undefined || known) this.kept.set(key, entry);
    else this.trial.set(key, entry);
  }

  /** Releases the entries whose keys say so. */
  async retire(goes: (key: string) => boolean): Promise<void> {
    for (const entries of [this.trial, this.kept]) {
      for (const key of [...entries.keys()].filter(goes)) await leave(entries, key);
    }
  }
}

/** Releases an entry, the first one unless told; returns its key. */
async function leave(entries: Map<string, Entry>, key: string = entries.keys().next().value!): Promise<string> {
  const { session } = entries.get(key)!;
  entries.delete(key);
  await session.release();
  return key;
}

/** The sessions of one runtime. */
export class SessionCache {
  private readonly pools: Readonly<Record<Use, Pool>> = {
    eager: new Pool(CAPACITY.eager),
    training: new Pool(CAPACITY.training),
    inference: new Pool(CAPACITY.inference),
    baked: new Pool(CAPACITY.baked),
  };

  constructor(public threads: number) {}

  find<T>(use: Use, key: string): Compiled<T> | undefined {
    return this.pools[use].find(key) as Compiled<T> | undefined;
  }

  async add<T>(use: Use, key: string, model: Uint8Array, info: T): Promise<Compiled<T>> {
    const pool = this.pools[use];
    await pool.makeRoom();
    const session = await InferenceSession.create(model, this.options(use));
    const entry = { session, info };
    pool.add(key, entry);
    return entry;
  }

  /** Releases what will not be used again; called only between commands. */
  retire(use: Use, goes: (key: string) => boolean): Promise<void> {
    return this.pools[use].retire(goes);
  }

  /** Releases everything; called only between commands. */
  async clear(): Promise<void> {
    for (const pool of Object.values(this.pools)) await pool.retire(() => true);
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

import type { ProcessEntry, ProcessRef, ProcessSystem } from './process-system';

/** What belongs to a tree. */
export interface Belonging {
  readonly root: ProcessRef | null;
  readonly cookies: ReadonlySet<string>;
  /** What was seen in it before, by number: it stays in it, whatever became of its parents and its variables. */
  readonly known: ReadonlyMap<number, string>;
}

export interface Members {
  /** All that live, without the root; never this process, nor what it descends from. */
  readonly others: readonly ProcessEntry[];
  /** Null when it has ended. */
  readonly root: ProcessEntry | null;
  /** Whether the root leads a group of its own, to which this process does not belong. */
  readonly leads: boolean;
}

/** One look at all processes, and which of them are of the tree. */
export function findMembers(system: ProcessSystem, { root, cookies, known }: Belonging): Members {
  const table = system.scan();
  const rootEntry = root === null ? null : same(table.get(root.pid), root.startTime);
  const ofSelf = root !== null && root.pid === system.self;
  const self = table.get(system.self);
  const leads = !ofSelf && rootEntry !== null && rootEntry.group === rootEntry.pid && self?.group !== rootEntry.group;
  // Whoever carries the cookie came after the process that was given it first.
  const since = Number(root?.startTime ?? 0);
  const spared = line(table, system.self);

  const seeds = [...table.values()].filter((entry) => {
    if (entry.pid === root?.pid) return rootEntry !== null;
    if (known.get(entry.pid) === entry.startTime) return true;
    if (root !== null && entry.group === root.pid && inGroup(entry)) return true;
    if (entry.ended || Number(entry.startTime) < since) return false;
    const cookie = system.cookie(entry.pid);
    return cookie !== null && cookies.has(cookie);
  });
  /**
   * In the group of a root that lives; or of one that is gone, when it was left to us: as long as a group has members, its number is given
   * to no new process.
   */
  function inGroup(entry: ProcessEntry): boolean {
    return leads || (entry.parent === system.self && !table.has(root!.pid));
  }

  const found = below(table, seeds, (pid) => spared.has(pid) && !(ofSelf && pid === system.self));
  const members = [...found.values()].filter(({ pid }) => pid !== root?.pid && !spared.has(pid));
  return {
    others: members.filter(({ ended }) => !ended),
    root: rootEntry !== null && !rootEntry.ended ? rootEntry : null,
    leads,
  };
}

/** All that live below a process. */
export function descendantsOf(system: ProcessSystem, pid: number): readonly ProcessRef[] {
  const table = system.scan();
  const top = table.get(pid);
  const found = top === undefined ? [] : [...below(table, [top], () => false).values()];
  return found.filter((entry) => entry.pid !== pid && !entry.ended).map(refOfEntry);
}

/** The same process as before, not another that got its number. */
export function same(entry: ProcessEntry | null | undefined, startTime: string): ProcessEntry | null {
  return entry?.startTime === startTime ? entry : null;
}

export function refOfEntry({ pid, startTime }: ProcessEntry): ProcessRef {
  return { pid, startTime };
}

/** The seeds and everything below them, but for what is stopped at. */
function below(
  table: ReadonlyMap<number, ProcessEntry>,
  seeds: readonly ProcessEntry[],
  stop: (pid: number) => boolean,
): ReadonlyMap<number, ProcessEntry> {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of table.values()) {
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  const found = new Map<number, ProcessEntry>();
  const open = [...seeds];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    if (found.has(entry.pid) || stop(entry.pid)) continue;
    found.set(entry.pid, entry);
    open.push(...(children.get(entry.pid) ?? []));
  }
  return found;
}

/** This process, what it descends from, and init: never to be signalled. */
function line(table: ReadonlyMap<number, ProcessEntry>, self: number): ReadonlySet<number> {
  const line = new Set([0, 1]);
  for (let pid = self; !line.has(pid); pid = table.get(pid)?.parent ?? 0) line.add(pid);
  return line;
}

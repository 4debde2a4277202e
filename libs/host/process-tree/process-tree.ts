import { setTimeout as sleep } from 'node:timers/promises';
import { type Members, findMembers, refOfEntry, same } from './members';
import { reapOrphans } from './orphans';
import { type ProcessEntry, type ProcessRef, type ProcessSystem, processTreeCounters } from './process-system';
import { thisSystem } from './this-system';

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;
/** How long before the deadline the root goes, whatever is left below it. */
const ROOT_MS = 100;
const CHASE_ROUNDS = 20;
/** A process that forks and ends while the list is read can hide its child from it once. */
const EMPTY_LOOKS = 2;

/**
 * A process with everything that came of it: its group, what descends from it, and whatever carries its cookie, wherever it went. A root of
 * null is a tree of which only cookies are known any more; a root that is this very process is not ended itself, only what is below it.
 */
export class ProcessTree {
  readonly #root: ProcessRef | null;
  readonly #cookies: ReadonlySet<string>;
  readonly #system: ProcessSystem;
  readonly #known = new Map<number, string>();

  /**
   * @param root as `refOf` saw it right after it was started
   * @param cookie its `CODEFYUI_RUN_COOKIE`; several for several trees at once
   */
  constructor(root: ProcessRef | null, cookie: string | readonly string[], system: ProcessSystem = thisSystem()) {
    this.#root = root;
    this.#cookies = new Set(typeof cookie === 'string' ? [cookie] : cookie);
    this.#system = system;
  }

  /** What lives of it, without the root. */
  others(): readonly ProcessRef[] {
    return this.#look().others.map(refOfEntry);
  }

  /** Asks all of it to end (SIGTERM). */
  terminate(): void {
    const { root, others, leads } = this.#look();
    // At once for all of a group; and only once for each.
    if (leads) this.#system.signal(-this.#root!.pid, 'SIGTERM');
    else if (root !== null) this.#signal(root, 'SIGTERM');
    for (const entry of others) if (!leads || entry.group !== this.#root!.pid) this.#signal(entry, 'SIGTERM');
  }

  /**
   * Ends all of it (SIGKILL), the root last: while it lives, what loses its parent becomes its child and is found. It is stopped meanwhile, with
   * its group, so that it starts nothing new.
   * @returns what lives at the deadline (a process that waits in the kernel, or belongs to another user): empty when all is gone
   */
  async kill(deadlineMs: number): Promise<readonly ProcessRef[]> {
    const deadline = performance.now() + deadlineMs;
    let pause = FIRST_PAUSE_MS;
    let dying = false;
    let empty = 0;
    for (;;) {
      processTreeCounters.rounds++;
      const members = this.#look();
      const root = this.#root?.pid === this.#system.self ? null : members.root;
      if (members.leads) this.#system.signal(-this.#root!.pid, 'SIGSTOP');
      else if (root !== null) this.#signal(root, 'SIGSTOP');
      for (const entry of members.others) this.#signal(entry, 'SIGKILL');
      const chased = this.#chase(root);
      // A root that dies slowly may still leave something: looks count anew once it is gone.
      empty = members.others.length + chased === 0 && !(dying && root !== null) ? empty + 1 : 0;

      const left = deadline - performance.now();
      if (root === null && empty >= EMPTY_LOOKS) return this.#end([]);
      if (left <= 0) return this.#end([...members.others, ...(root === null ? [] : [root])]);
      if (root !== null && !dying && (empty >= EMPTY_LOOKS || left <= ROOT_MS)) {
        this.#signal(root, 'SIGKILL');
        dying = true;
      }
      await sleep(Math.min(pause, left));
      pause = empty > 0 ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  /**
   * One that forks and ends again and again can be away whenever the list comes to it; but each in turn becomes a child of whoever adopts it, and
   * looking there is quick enough.
   * @returns how many were met
   */
  #chase(root: ProcessEntry | null): number {
    let met = 0;
    for (let round = 0; round < CHASE_ROUNDS; round++) {
      const children = this.#system.children(root?.pid ?? this.#system.self);
      const entries = children.flatMap((pid) => this.#system.entry(pid) ?? []);
      const living = entries.filter((entry) => !entry.ended && (root !== null || this.#carries(entry)));
      if (living.length === 0) break;
      for (const entry of living) this.#signal(entry, 'SIGKILL');
      met += living.length;
    }
    return met;
  }

  #carries({ pid }: ProcessEntry): boolean {
    if (pid === this.#root?.pid) return false;
    const cookie = this.#system.cookie(pid);
    return cookie !== null && this.#cookies.has(cookie);
  }

  /** Of what was ended, this process adopted some. (One that is its own root ends now itself, and has no time for that.) */
  async #end(survivors: readonly ProcessEntry[]): Promise<readonly ProcessRef[]> {
    if (this.#root?.pid !== this.#system.self) {
      await reapOrphans(new Set(this.#root === null ? [] : [this.#root.pid]), this.#system);
    }
    return survivors.map(refOfEntry);
  }

  #look(): Members {
    const members = findMembers(this.#system, { root: this.#root, cookies: this.#cookies, known: this.#known });
    this.#known.clear();
    for (const { pid, startTime } of members.others) this.#known.set(pid, startTime);
    return members;
  }

  /** To that process, not to another that got its number since it was listed. */
  #signal(entry: ProcessEntry, signal: NodeJS.Signals): void {
    if (same(this.#system.entry(entry.pid), entry.startTime) !== null) this.#system.signal(entry.pid, signal);
  }
}

/** Ends every process that carries the cookie, and what is below them. @returns see `ProcessTree.kill` */
export function killCookie(cookie: string, deadlineMs: number): Promise<readonly ProcessRef[]> {
  return new ProcessTree(null, cookie).kill(deadlineMs);
}

/**
 * Ends what is left of runs that nobody follows any more: for an agent that starts and finds the cookies of the one before it.
 * @param except cookies of runs that go on
 * @returns see `ProcessTree.kill`
 */
export async function sweepCookies(
  cookies: Iterable<string>,
  except: ReadonlySet<string>,
  deadlineMs: number,
): Promise<readonly ProcessRef[]> {
  const stale = [...cookies].filter((cookie) => !except.has(cookie));
  return stale.length === 0 ? [] : new ProcessTree(null, stale).kill(deadlineMs);
}

/** Whether anything of the tree but its root lives. */
export function aliveMembers(root: ProcessRef | null, cookie: string): boolean {
  return new ProcessTree(root, cookie).others().length > 0;
}

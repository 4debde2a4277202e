import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { becomeSubreaper } from './linux';
import { refOfEntry } from './members';
import { reapOrphans } from './orphans';
import type { ProcessEntry, ProcessRef, ProcessSystem } from './process-system';
import { ProcessTree } from './process-tree';
import { thisSystem } from './this-system';

const PAUSE_MS = 20;
/** Whose children are not only what came of it. */
const INIT = 1;

/**
 * What this process adopts. Of a tree whose root was killed from outside, what hid its cookie and left the group can be told by one thing only:
 * it becomes a child of this process, which has not started it. That holds as long as all that this process starts is announced.
 */
export class Strays {
  readonly #own = new Set<number>();
  readonly #system: ProcessSystem;
  /** Those that were there before, such as of a script that became this program; null: strays are not looked for. */
  #before: ReadonlySet<number> | null = null;

  constructor(system: ProcessSystem = thisSystem()) {
    this.#system = system;
  }

  /**
   * From now on orphans below this process become its children, and strays.
   * @returns false where there is no such thing; the first process of a container has others' orphans as well, and leaves all alone
   */
  adopt(): boolean {
    const { self } = this.#system;
    if (!becomeSubreaper()) return false;
    if (self === INIT) return false;
    this.#before = new Set(this.#system.children(self));
    return true;
  }

  /** Announces a child that this process has started just now. */
  spawned(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.#own.add(pid);
    child.once('exit', () => this.#own.delete(pid));
  }

  /**
   * Ends all strays with what is below them, and takes note of the ends of those that ended by themselves.
   * @returns what lives at the deadline: it waits in the kernel, or belongs to another user
   */
  async end(deadlineMs: number): Promise<readonly ProcessRef[]> {
    if (this.#before === null) return [];
    const deadline = performance.now() + deadlineMs;
    for (;;) {
      const strays = this.#look();
      const left = deadline - performance.now();
      if (strays.length === 0 || left <= 0) {
        await reapOrphans(this.#own, this.#system);
        return strays.map(refOfEntry);
      }
      // What each of them had adopted may come here when it ends.
      await Promise.all(strays.map((stray) => new ProcessTree(refOfEntry(stray), [], this.#system).kill(left)));
      if (this.#look().length > 0) await sleep(Math.min(PAUSE_MS, left));
    }
  }

  /** What a run starts is never of this process's group; helpers that a library starts for a moment are. */
  #look(): readonly ProcessEntry[] {
    const { self } = this.#system;
    const group = this.#system.entry(self)?.group;
    return this.#system
      .children(self)
      .filter((pid) => !this.#own.has(pid) && !this.#before?.has(pid))
      .flatMap((pid) => this.#system.entry(pid) ?? [])
      .filter((entry) => !entry.ended && entry.parent === self && entry.group !== group);
  }
}

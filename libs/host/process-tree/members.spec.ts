import { parsePs, parsePsEnvironment, parseWin32Processes } from './elsewhere';
import { parseEnvironment, parseStat } from './linux';
import { descendantsOf } from './members';
import { reapOrphans } from './orphans';
import type { ProcessEntry, ProcessSystem } from './process-system';
import { ProcessTree } from './process-tree';

const SELF = 500;

/** Processes by number; a signal ends one unless it says otherwise. */
class FakeSystem implements ProcessSystem {
  readonly self = SELF;
  readonly signals: [number, string][] = [];
  readonly reaped: number[] = [];
  readonly #table = new Map<number, ProcessEntry & { readonly cookie?: string; readonly stubborn?: boolean }>();

  constructor() {
    this.add(1, 0);
    this.add(400, 1);
    this.add(SELF, 400, { group: 400 });
  }

  add(pid: number, parent: number, more: Partial<ProcessEntry> & { cookie?: string; stubborn?: boolean } = {}): this {
    this.#table.set(pid, { pid, parent, group: pid, startTime: String(pid), ended: false, ...more });
    return this;
  }

  /** Called at each look at one process, before the answer: the world goes on meanwhile. */
  meanwhile: (pid: number) => void = () => undefined;

  scan(): ReadonlyMap<number, ProcessEntry> {
    return new Map(this.#table);
  }

  entry(pid: number): ProcessEntry | null {
    this.meanwhile(pid);
    return this.#table.get(pid) ?? null;
  }

  children(parent: number): readonly number[] {
    return [...this.#table.values()].filter((entry) => entry.parent === parent).map(({ pid }) => pid);
  }

  cookie(pid: number): string | null {
    return this.#table.get(pid)?.cookie ?? null;
  }

  signal(pid: number, signal: NodeJS.Signals): void {
    this.signals.push([pid, signal]);
    const entry = this.#table.get(pid);
    if (signal !== 'SIGKILL' || entry === undefined || entry.stubborn) return;
    this.#table.delete(pid);
    // Its children go to this process, as to a subreaper.
    for (const child of this.#table.values()) {
      if (child.parent === pid) this.#table.set(child.pid, { ...child, parent: SELF });
    }
  }

  reap(pid: number): boolean {
    this.reaped.push(pid);
    return this.#table.delete(pid);
  }

  killed(): readonly number[] {
    return this.signals.filter(([, signal]) => signal === 'SIGKILL').map(([pid]) => pid);
  }
}

const ref = (pid: number): { pid: number; startTime: string } => ({ pid, startTime: String(pid) });

describe('ProcessTree', () => {
  it('ends the root last, and nothing outside', async () => {
    const system = new FakeSystem()
      .add(600, SELF, { cookie: 'a' })
      .add(601, 600)
      .add(602, 601, { group: 600 })
      .add(700, 1, { cookie: 'a' })
      .add(701, 700)
      .add(800, SELF, { cookie: 'b' })
      .add(801, 1);
    const tree = new ProcessTree(ref(600), 'a', system);
    expect(
      tree
        .others()
        .map(({ pid }) => pid)
        .sort(),
    ).toEqual([601, 602, 700, 701]);
    expect(await tree.kill(5_000)).toEqual([]);
    expect([...system.killed()].sort()).toEqual([600, 601, 602, 700, 701]);
    expect(system.killed().at(-1)).toBe(600);
    expect([...system.scan().keys()]).toEqual([1, 400, SELF, 800, 801]);
  });

  it('signals no process that got the number of a member since it was listed', async () => {
    const system = new FakeSystem().add(600, SELF, { cookie: 'a' }).add(601, 600).add(602, 600);
    system.meanwhile = (pid) => {
      if (pid === 601) system.add(601, 1, { startTime: 'later' });
    };
    expect(await new ProcessTree(ref(600), 'a', system).kill(5_000)).toEqual([]);
    expect([...system.killed()].sort()).toEqual([600, 602]);
    expect(system.scan().get(601)?.startTime).toBe('later');
  });

  it('takes no other process for the root, nor its group for that of the root', async () => {
    const system = new FakeSystem().add(600, 1, { startTime: '900' }).add(601, 600, { group: 600, startTime: '901' });
    const tree = new ProcessTree(ref(600), 'a', system);
    tree.terminate();
    expect(await tree.kill(5_000)).toEqual([]);
    expect(system.signals).toEqual([]);
  });

  it('keeps what it once saw, when parents and cookie tell nothing any more', async () => {
    const system = new FakeSystem().add(600, SELF, { cookie: 'a' }).add(601, 600).add(602, 601);
    const tree = new ProcessTree(ref(600), 'a', system);
    tree.others();
    system.signal(600, 'SIGKILL');
    system.signal(601, 'SIGKILL');
    expect(system.scan().get(602)?.parent).toBe(SELF);
    expect(tree.others()).toEqual([ref(602)]);
  });

  it('finds what a root that is gone left in its group', () => {
    const system = new FakeSystem().add(601, SELF, { group: 600 }).add(602, 1, { group: 600 });
    // Only what came to us was surely below it.
    expect(new ProcessTree(ref(600), 'a', system).others()).toEqual([ref(601)]);
  });

  it('never signals itself, what it descends from, or init, whatever cookies they carry', async () => {
    const system = new FakeSystem()
      .add(1, 0, { cookie: 'a' })
      .add(400, 1, { cookie: 'a' })
      .add(SELF, 400, { cookie: 'a', group: 400 })
      .add(600, SELF)
      .add(700, 400, { cookie: 'a' });
    expect(await new ProcessTree(null, 'a', system).kill(5_000)).toEqual([]);
    // Nor what is below itself for the sake of its own cookie.
    expect(system.killed()).toEqual([700]);
  });

  it('as its own root ends what is below and lives on', async () => {
    const system = new FakeSystem()
      .add(SELF, 400, { cookie: 'a' })
      .add(600, SELF)
      .add(601, 600)
      .add(602, SELF, { ended: true });
    expect(await new ProcessTree(ref(SELF), 'a', system).kill(5_000)).toEqual([]);
    expect([...new Set(system.killed())].sort()).toEqual([600, 601]);
    expect(system.signals.every(([pid]) => pid > SELF)).toBe(true);
    expect(system.reaped).toEqual([]);
  });

  it('catches what the list of all processes never shows, where it becomes a child', async () => {
    for (const [root, cookie] of [
      [ref(600), undefined],
      [null, 'a'],
    ] as const) {
      const system = new FakeSystem().add(600, SELF, { cookie: 'a' });
      const scan = system.scan.bind(system);
      system.scan = () => new Map([...scan()].filter(([pid]) => pid !== 601));
      // Below the root that lives, and with a cookie of the tree below ourselves.
      system.add(601, root === null ? SELF : 600, { cookie }).add(700, SELF, { cookie: 'b' });
      expect(await new ProcessTree(root, 'a', system).kill(5_000)).toEqual([]);
      expect([...system.killed()].sort()).toEqual([600, 601]);
    }
  });

  it('takes an empty cookie for none', () => {
    const system = new FakeSystem().add(700, 1).add(701, 1, { cookie: '' });
    expect(new ProcessTree(null, 'a', system).others()).toEqual([]);
    expect(parseEnvironment('CODEFYUI_RUN_COOKIE=\0')).toBeNull();
  });

  it('says what lives at the deadline, and has ended the root even so', async () => {
    const system = new FakeSystem().add(600, SELF, { cookie: 'a' }).add(601, 600, { stubborn: true });
    const started = performance.now();
    expect(await new ProcessTree(ref(600), 'a', system).kill(300)).toEqual([ref(601)]);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(system.scan().has(600)).toBe(false);
  });

  it('asks each member once to end: a group at once', () => {
    const system = new FakeSystem().add(600, SELF, { cookie: 'a' }).add(601, 600, { group: 600 }).add(602, 600);
    new ProcessTree(ref(600), 'a', system).terminate();
    expect(system.signals).toEqual([
      [-600, 'SIGTERM'],
      [602, 'SIGTERM'],
    ]);
  });

  it('signals no group that it belongs to itself', async () => {
    const system = new FakeSystem().add(SELF, 400, { group: 600 }).add(600, SELF, { cookie: 'a' });
    const tree = new ProcessTree(ref(600), 'a', system);
    tree.terminate();
    await tree.kill(5_000);
    expect(system.signals.every(([pid]) => pid === 600)).toBe(true);
  });
});

it('reaps orphans that have ended, but none of our own', async () => {
  const system = new FakeSystem().add(600, SELF, { ended: true }).add(601, SELF, { ended: true }).add(602, SELF);
  expect(await reapOrphans(new Set([600]), system)).toBe(1);
  expect(system.reaped).toEqual([601]);
});

it('lists what lives below a process', () => {
  const system = new FakeSystem().add(600, SELF).add(601, 600).add(602, 601, { ended: true }).add(603, 601);
  const below = descendantsOf(system, 600).map(({ pid }) => pid);
  expect(below.sort()).toEqual([601, 603]);
  expect(descendantsOf(system, 999)).toEqual([]);
});

describe('what systems say of processes', () => {
  const stat = (state: string, threads: number): string =>
    `77 (a) (b ${state}) ${state} 66 55 44 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 ${threads} 0 123456 7 8`;

  it('Linux: whatever a program calls itself', () => {
    const entry = { pid: 77, parent: 66, group: 55, startTime: '123456' };
    expect(parseStat(77, stat('S', 1))).toEqual({ ...entry, ended: false });
    expect(parseStat(77, stat('Z', 1))).toEqual({ ...entry, ended: true });
    // Its first thread has ended, another runs.
    expect(parseStat(77, stat('Z', 2))).toEqual({ ...entry, ended: false });
  });

  it('Linux: the cookie among the variables', () => {
    expect(parseEnvironment('A=1\0CODEFYUI_RUN_COOKIE=c00k1e\0B=2\0')).toBe('c00k1e');
    expect(parseEnvironment('CODEFYUI_RUN_COOKIE=c00k1e')).toBe('c00k1e');
    expect(parseEnvironment('X=CODEFYUI_RUN_COOKIE=no\0NOT_CODEFYUI_RUN_COOKIE=no\0')).toBeNull();
  });

  it('macOS: the columns of ps, and the variables behind the command', () => {
    const output = `    1     0     1 Ss   Mon Dec  1 08:00:00 2025
  502     1   502 S+   Mon Dec  1 08:00:05 2025
  503   502   502 Z+   Mon Dec  1 08:00:06 2025
`;
    const table = parsePs(output);
    expect([...table.keys()]).toEqual([1, 502, 503]);
    const startTime = String(new Date(2025, 11, 1, 8, 0, 6).getTime());
    expect(table.get(503)).toEqual({ pid: 503, parent: 502, group: 502, startTime, ended: true });
    expect(table.get(502)!.ended).toBe(false);
    expect(parsePs('')).toEqual(new Map());
    expect(parsePsEnvironment('/usr/bin/node child.js PATH=/bin CODEFYUI_RUN_COOKIE=c00k1e HOME=/\n')).toBe('c00k1e');
    expect(parsePsEnvironment('/usr/bin/node child.js PATH=/bin\n')).toBeNull();
  });

  it('Windows: no parent that is younger than its child', () => {
    const table = parseWin32Processes('4,0,100\r\n500,4,200\r\n501,500,300\r\n502,501,250\r\nPS C:\\>\r\n');
    expect([...table.values()].map(({ pid, parent }) => [pid, parent])).toEqual([
      [4, 0],
      [500, 4],
      [501, 500],
      [502, 0],
    ]);
    expect(table.get(501)).toEqual({ pid: 501, parent: 500, group: 0, startTime: '300', ended: false });
  });
});

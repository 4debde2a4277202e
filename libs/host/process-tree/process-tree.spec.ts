import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { times } from '../../../testing/long';
import { entryPath } from '../entry';
import { compileC } from '../testing/compile';

/** Real processes, in a program of its own for each test: what it adopts must not become jest's. */
const run = promisify(execFile);

let stubborn: string;

beforeAll(async () => {
  stubborn = await compileC('stubborn.c', ['-pthread']);
});

afterAll(() => rmSync(dirname(stubborn), { recursive: true, force: true }));

/** What the scripts below share. */
const PRELUDE = `
  const { spawn } = require('node:child_process');
  const { once } = require('node:events');
  const { readFileSync, readdirSync } = require('node:fs');
  const trees = require(process.argv[1]);
  const { ProcessTree, aliveMembers, becomeSubreaper, descendantsOf, holdersOf, killCookie, reapOrphans, refOf, Strays, sweepCookies } = trees;
  const [STUBBORN] = process.argv.slice(2);
  /** State, parent and threads, by the kernel's own words. */
  const look = (pid) => {
    try {
      const status = readFileSync('/proc/' + pid + '/status', 'utf8');
      return { state: /^State:\\s+(\\S)/m.exec(status)[1], parent: Number(/^PPid:\\s+(\\d+)/m.exec(status)[1]), threads: readdirSync('/proc/' + pid + '/task').length };
    } catch { return null; }
  };
  const lives = (pid) => { const seen = look(pid); return seen !== null && !(seen.state === 'Z' && seen.threads === 1); };
  const zombies = () => readdirSync('/proc').map(Number).filter((pid) => { const seen = pid > 0 && look(pid); return seen && seen.state === 'Z' && seen.parent === process.pid; });
  const cookie = 'cookie-' + process.pid;
  async function start(kinds, options) {
    const child = spawn(STUBBORN, kinds, { stdio: ['ignore', 'pipe', 'ignore'], detached: true, env: { ...process.env, CODEFYUI_RUN_COOKIE: cookie }, ...options });
    const root = refOf(child.pid);
    const ended = once(child, 'exit');
    const pids = (await once(child.stdout, 'data'))[0].toString().trim().split(' ').map(Number);
    return { child, root, ended, pids };
  }
  const KINDS = ['plain', 'setsid', 'daemon', 'pipe', 'clear', 'thread'];
  const many = (kinds) => Array.from({ length: 20 }, (_, index) => kinds[index % kinds.length]);
  const end = (value) => process.stdout.write(JSON.stringify(value) + '\\n', () => process.exit(0));
`;

/** What a script says at its end. */
async function result(script: string, ...more: readonly string[]): Promise<Record<string, unknown>> {
  const code = `${PRELUDE}\n(async () => {${script}})().catch((error) => { console.error(error); process.exit(1); });`;
  const entry = entryPath('libs/host/process-tree/index');
  const { stdout } = await run(process.execPath, ['-e', code, entry, stubborn, ...more]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const GONE = { survivors: [], left: [], zombies: [] };

describe('a tree of 20 that hide and ignore SIGTERM', () => {
  it('is gone after kill, with nothing left to reap, and its root ends under the eyes of who started it', async () => {
    const seen = await result(`
      becomeSubreaper();
      const { root, ended, pids } = await start(many([...KINDS, 'clear-daemon']));
      const tree = new ProcessTree(root, cookie);
      tree.terminate();
      // Two forks away and with no environment it is found below the root: each is.
      const found = tree.others().map(({ pid }) => pid);
      const missed = pids.filter((pid) => !found.includes(pid));
      const survivors = await tree.kill(5000);
      const [code, signal] = await ended;
      end({ missed, survivors, left: pids.filter(lives), zombies: zombies(), code, signal, alive: aliveMembers(root, cookie) });
    `);
    expect(seen).toEqual({ ...GONE, missed: [], code: null, signal: 'SIGKILL', alive: false });
  });

  it('is gone as well when its root was killed first', async () => {
    const seen = await result(`
      becomeSubreaper();
      const { child, root, ended, pids } = await start(many(KINDS));
      child.kill('SIGKILL');
      await ended;
      const alive = aliveMembers(root, cookie);
      const survivors = await new ProcessTree(root, cookie).kill(5000);
      end({ alive, survivors, left: pids.filter(lives), zombies: zombies() });
    `);
    expect(seen).toEqual({ ...GONE, alive: true });
  });

  it('is found by its cookie when all that started it is gone', async () => {
    const seen = await result(`
      const kinds = many(KINDS.filter((kind) => kind !== 'clear'));
      const other = spawn(process.execPath, ['-e', \`
        const child = require('node:child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: ['ignore', 'inherit', 'ignore'], detached: true, env: { ...process.env, CODEFYUI_RUN_COOKIE: '\${cookie}' } });
        setInterval(() => {}, 1000);\`, STUBBORN, ...kinds], { stdio: ['ignore', 'pipe', 'inherit'] });
      const pids = (await once(other.stdout, 'data'))[0].toString().trim().split(' ').map(Number);
      other.kill('SIGKILL');
      await once(other, 'exit');
      const holders = holdersOf(cookie).length;
      const survivors = await sweepCookies(['cookie-of-nobody', cookie], new Set(), 5000);
      end({ holders, survivors, left: pids.filter(lives), zombies: zombies(), after: holdersOf(cookie) });
    `);
    // With the root.
    expect(seen).toEqual({ ...GONE, holders: 21, after: [] });
  });
});

it('catches a process that passes itself on faster than it can be listed', async () => {
  const seen = await result(
    `
    becomeSubreaper();
    let survivors = [], holders = [];
    for (let round = 0; round < Number(process.argv[3]); round++) {
      const { root, ended } = await start(['relay', 'relay', 'relay']);
      survivors = survivors.concat(await new ProcessTree(root, cookie).kill(5000));
      await ended;
      holders = holders.concat(holdersOf(cookie));
    }
    end({ survivors, holders, zombies: zombies() });
  `,
    String(times(5, 100)),
  );
  expect(seen).toEqual({ survivors: [], holders: [], zombies: [] });
});

it('ends what is below this very program and leaves the program', async () => {
  const seen = await result(`
    becomeSubreaper();
    // As the subprocess of a run is: with its cookie, in a group of its own.
    const { ended, pids } = await start([...KINDS, 'clear-daemon'], { detached: false });
    const survivors = await new ProcessTree(refOf(process.pid), cookie).kill(5000);
    const [, signal] = await ended;
    end({ survivors, left: pids.filter(lives), signal, below: descendantsOf(process.pid) });
  `);
  expect(seen).toEqual({ survivors: [], left: [], signal: 'SIGKILL', below: [] });
});

it('spares the runs whose cookie is to be spared', async () => {
  const seen = await result(`
    const first = await start(['setsid']);
    const second = await start(['setsid'], { env: { CODEFYUI_RUN_COOKIE: 'other' } });
    const survivors = await sweepCookies([cookie, 'other'], new Set(['other']), 5000);
    const alive = [first, second].map(({ pids }) => lives(pids[0]));
    await killCookie('other', 5000);
    end({ survivors, alive, left: second.pids.filter(lives), ended: [await first.ended, await second.ended] });
  `);
  // Both roots were this program's own children, and it learned of their ends.
  const killed = [null, 'SIGKILL'];
  expect(seen).toEqual({ survivors: [], alive: [false, true], left: [], ended: [killed, killed] });
});

it('takes note of the ends of orphans, and takes none of those that libuv waits for', async () => {
  const seen = await result(`
    becomeSubreaper();
    let reaped = 0, done = false;
    const reaping = (async () => { while (!done) { reaped += await reapOrphans(); await new Promise(setImmediate); } })();
    const exits = [];
    // Each leaves an orphan that ends a little later.
    for (let i = 0; i < 40; i++) exits.push(once(spawn('sh', ['-c', '(sleep 0.05 &) ; exit 7'], { stdio: 'ignore' }), 'exit'));
    const codes = (await Promise.all(exits)).map(([code]) => code);
    while (reaped < 40) await new Promise(setImmediate);
    done = true;
    await reaping;
    end({ codes: codes.filter((code) => code === 7).length, reaped, zombies: zombies() });
  `);
  expect(seen).toEqual({ codes: 40, reaped: 40, zombies: [] });
});

describe('strays', () => {
  const LEAVE =
    "spawn('sh', ['-c', '(env -i setsid sh -c \"sleep 1000 & sleep 1001\" &) ; exit 0'], { stdio: 'ignore', detached: true })";

  it('are ended with all that is below them, and nothing that this program started is', async () => {
    const seen = await result(`
      const strays = new Strays();
      const adopting = strays.adopt();
      const child = await start(['setsid']);
      strays.spawned(child.child);
      // A helper that a library starts, unannounced, is of our group.
      const helper = spawn('sleep', ['1000'], { stdio: 'ignore' });
      const left = ${LEAVE};
      strays.spawned(left);
      await once(left, 'exit');
      const hidden = () => descendantsOf(process.pid).filter(({ pid }) => ![child.child.pid, helper.pid, ...child.pids].includes(pid));
      while (hidden().length < 3);
      const survivors = await strays.end(5000);
      const alive = [child.child.pid, helper.pid].map(lives);
      const [rest, ended] = [hidden(), zombies()];
      await new ProcessTree(refOf(process.pid), cookie).kill(5000);
      end({ adopting, survivors, rest, alive, zombies: ended });
    `);
    expect(seen).toEqual({ adopting: true, survivors: [], rest: [], alive: [true, true], zombies: [] });
  });

  it('are none of what was there before, and none at all for a program that does not adopt', async () => {
    const seen = await result(`
      const before = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true });
      const strays = new Strays();
      await strays.end(1000);
      const idle = lives(before.pid);
      strays.adopt();
      const survivors = await strays.end(1000);
      const alive = lives(before.pid);
      before.kill('SIGKILL');
      await once(before, 'exit');
      end({ idle, survivors, alive });
    `);
    expect(seen).toEqual({ idle: true, survivors: [], alive: true });
  });
});

it('leaves a child of our own alone that has ended and is not noticed yet', async () => {
  const seen = await result(`
    const child = spawn('true', { stdio: 'ignore' });
    const ended = once(child, 'exit');
    // Without a turn of the loop: it is a zombie, and libuv does not know.
    while (look(child.pid).state !== 'Z');
    const reaped = await reapOrphans();
    end({ reaped, code: (await ended)[0] });
  `);
  expect(seen).toEqual({ reaped: 0, code: 0 });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OomWatch, oomKills, peakRss } from './oom-watch';

const MIB = 1024 * 1024;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-oom-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}
const vmstat = (kills: number): void => put('proc/vmstat', `nr_free_pages 12\noom_kill ${kills}\noom_kill_x 99\n`);
const events = (mount: string, kills: number): void =>
  put(`${mount}/runs/agent/memory.events`, `low 0\nhigh 0\nmax 3\noom 1\noom_kill ${kills}\noom_group_kill 0\n`);
const watch = (): OomWatch => new OomWatch(join(folder, 'proc'), [join(folder, 'cgroup'), join(folder, 'unified')]);

describe('OomWatch', () => {
  it("tells each rise of the machine's count once", () => {
    vmstat(4);
    const oom = watch();
    expect(oom.rose()).toBe(false);
    vmstat(5);
    expect([oom.rose(), oom.rose()]).toEqual([true, false]);
    vmstat(7);
    expect([oom.rose(), oom.rose()]).toEqual([true, false]);
  });

  it.each(['cgroup', 'unified'])('tells a rise of the count of its own cgroup, mounted at %s', (mount) => {
    put('proc/self/cgroup', '4:memory:/elsewhere\n0::/runs/agent\n');
    vmstat(4);
    events(mount, 0);
    const oom = watch();
    expect(oom.rose()).toBe(false);
    events(mount, 1);
    expect([oom.rose(), oom.rose()]).toEqual([true, false]);
  });

  it('takes no count that merely appears, or falls, for a rise', () => {
    put('proc/self/cgroup', '0::/runs/agent\n');
    const oom = watch();
    expect(oom.rose()).toBe(false);
    vmstat(4);
    events('cgroup', 9);
    expect(oom.rose()).toBe(false);
    vmstat(1);
    rmSync(join(folder, 'cgroup'), { recursive: true });
    expect(oom.rose()).toBe(false);
    vmstat(2);
    expect(oom.rose()).toBe(true);
  });

  it('reads what this kernel says', () => {
    if (process.platform === 'linux') expect(oomKills(readFileSync('/proc/vmstat', 'utf8'))).toBeGreaterThanOrEqual(0);
    expect(typeof new OomWatch().rose()).toBe('boolean');
  });
});

describe('peakRss', () => {
  it('is the most that a process held, kept when it gave it back, and unknown once it ended', async () => {
    const script = `
      let block = Buffer.alloc(200 * ${MIB}, 1);
      block = null;
      gc();
      process.stdout.write('held');
      process.stdin.resume();`;
    const child = spawn(process.execPath, ['--expose-gc', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      expect(peakRss(child.pid!)).toBeGreaterThan(200 * MIB);
      expect(peakRss(child.pid!)).toBeLessThan(500 * MIB);
    } finally {
      child.kill('SIGKILL');
    }
    await once(child, 'exit');
    expect(peakRss(child.pid!)).toBeNull();
  });

  it('is unknown where the system does not tell', () => {
    put('proc/7/status', 'Name:\tkthread\nState:\tS (sleeping)\n');
    expect([peakRss(7, join(folder, 'proc')), peakRss(8, join(folder, 'proc'))]).toEqual([null, null]);
    put('proc/7/status', 'Name:\tnode\nVmPeak:\t  900000 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\n');
    expect(peakRss(7, join(folder, 'proc'))).toBe(2 * MIB);
  });
});

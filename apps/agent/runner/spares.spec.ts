import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { entryPath, isAlive } from '@cdui/host';
import { refOf } from '@cdui/host/process-tree';
import { chain } from '@cdui/run-host/testing/workplace';
import { times } from '../../../testing/long';
import { readCookie } from './cookie-file';
import type { ProcessLauncher } from './process-launcher';
import { AgentPlace, seen } from './testing/agent-place';

describe('processes that wait for a run', () => {
  let place: AgentPlace;
  let launcher: ProcessLauncher;
  beforeEach(() => {
    place = new AgentPlace({
      Show: `
        console.log(JSON.stringify({ folder: process.cwd(), cards: process.env.CUDA_VISIBLE_DEVICES, pid: process.pid }));
        return { value: 1 };`,
    });
    const environment = {
      ...process.env,
      CODEFYUI_RUNTIME_PROVIDERS: entryPath('libs/run-host/testing/cuda-provider'),
    };
    launcher = place.launcher({ spare: 1, environment });
  });
  afterEach(async () => {
    await launcher.close();
    place.remove();
  });

  const spare = (number: number): string => place.runFolder(`.spare-${number}`);

  it('take the next run, see its devices and write into its folder, and are replaced', async () => {
    const { pid, cookie } = readCookie(spare(1))!;
    const { run, outlet } = place.launch(launcher, chain(['s', 'Show']), { device: 'cuda:3', devices: ['cuda:3'] });
    expect(readCookie(place.runFolder())).toMatchObject({ pid, cookie, attempt: 1 });
    expect(existsSync(spare(1))).toBe(false);
    await run.over;
    expect(outlet.outcome.status).toBe('succeeded');
    expect(JSON.parse(place.output())).toEqual({ folder: place.runFolder(), cards: '3', pid });
    expect(outlet.of('run_started')).toMatchObject([{ visible_devices: '3', device_aliases: { 'cuda:0': 'cuda:3' } }]);
    expect(readdirSync(place.runFolder())).toEqual(['output.log']);
    await seen(dirname(spare(2)), () => existsSync(spare(2)));
    await seen(spare(2), () => typeof readCookie(spare(2))?.pid === 'number');
    expect(readCookie(spare(2))!.pid).not.toBe(pid);
  });

  it('are not used when they ended meanwhile', async () => {
    const root = refOf(readCookie(spare(1))!.pid!);
    process.kill(root.pid, 'SIGKILL');
    await seen(dirname(spare(1)), () => !existsSync(spare(1)));
    const { run, outlet } = place.launch(launcher, chain(['s', 'Show']));
    await run.over;
    expect(outlet.outcome.status).toBe('succeeded');
    expect((JSON.parse(place.output()) as { pid: number }).pid).not.toBe(root.pid);
  });

  it('end with the launcher, and leave nothing', async () => {
    const root = refOf(readCookie(spare(1))!.pid!);
    await launcher.close();
    expect(isAlive(root.pid, root.startTime)).toBe(false);
    expect(readdirSync(dirname(spare(1)))).toEqual([]);
  });
});

describe('many runs in a row', () => {
  it('leave no file, no open file and no process', async () => {
    const place = new AgentPlace({ Give: `return { value: 1 };` });
    // Others write into the machine's own.
    const temporary = mkdtempSync(join(tmpdir(), 'agent-temporary-'));
    const launcher = place.launcher({ environment: { ...process.env, TMPDIR: temporary } });
    const run = async (id: string): Promise<void> => {
      const { run: launched, outlet } = place.launch(launcher, chain(['g', 'Give']), { run_id: id });
      await launched.over;
      expect(outlet.outcome.status).toBe('succeeded');
    };
    await run('r0');
    const before = open(temporary);
    for (let index = 1; index <= times(8, 500); index += 1) {
      await run(`r${index}`);
      expect(readdirSync(place.runFolder(`r${index}`))).toEqual(['output.log']);
    }
    expect(open(temporary)).toEqual(before);
    place.remove();
    rmSync(temporary, { recursive: true });
  }, 900_000);

  /** Open files and children of this process, and what lies in the folder for temporary files. */
  function open(temporary: string) {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim();
    return {
      files: readdirSync('/proc/self/fd').length,
      children,
      temporary: readdirSync(temporary).length,
    };
  }
});

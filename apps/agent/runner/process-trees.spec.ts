import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entryPath, isAlive } from '@cdui/host';
import { refOf } from '@cdui/host/process-tree';
import { chain } from '@cdui/run-host/testing/workplace';
import { readCookie } from './cookie-file';
import { sweepRuns } from './sweep-runs';
import { AgentPlace, seen } from './testing/agent-place';
import { alive, brood, BROOD, broodNode, listPath } from './testing/brood';
import type { CollectingOutlet } from './testing/collecting-outlet';

/** Without the mark, what hid from a process is found as long as that process lives. */
const MARKED = 1;
const UNMARKED = 0;
const ENDS_WITHIN_MS = 5_000;

describe('everything that a run started', () => {
  let place: AgentPlace;
  beforeAll(() => {
    place = new AgentPlace();
    place.write('Brood', broodNode(place.folder));
    place.write('Quiet', `console.log('ready'); await new Promise(() => undefined);`);
  });
  beforeEach(() => rmSync(listPath(place.folder), { force: true }));
  afterAll(() => place.remove());

  /** What of it lived when the end of the run was reported. */
  function atTheEnd(outlet: CollectingOutlet): Promise<readonly number[]> {
    return new Promise((resolve) => {
      outlet.onFrame = ({ type }) => {
        if (type === 'run_finished') resolve(alive(place.folder));
      };
    });
  }

  it('is gone when a run that succeeded is over', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['b', 'Brood']));
    const left = atTheEnd(outlet);
    await run.over;
    expect(await left).toEqual([]);
    expect(brood(place.folder)).toHaveLength(BROOD);
    expect(outlet.outcome.status).toBe('succeeded');
  });

  it('is gone when a run was ended by force', async () => {
    const launcher = place.launcher({ killAfterTerminateMs: 100 });
    const { run, outlet } = place.launch(launcher, chain(['b', 'Brood', { key: 'spin' }]));
    const left = atTheEnd(outlet);
    await place.printed('ready');
    expect(alive(place.folder)).toHaveLength(BROOD);
    run.stop(0.1, 'cancel');
    await run.over;
    expect(await left).toEqual([]);
    expect(outlet.outcome.reason?.code).toBe('run_unresponsive');
  });

  it('is gone when the run’s own process was killed', async () => {
    const { run, outlet } = place.launch(place.launcher(), chain(['b', 'Brood', { key: 'wait', amount: MARKED }]));
    const left = atTheEnd(outlet);
    await place.printed('ready');
    process.kill(readCookie(place.runFolder())!.pid!, 'SIGKILL');
    await run.over;
    expect(await left).toEqual([]);
    expect(outlet.outcome.reason?.code).toBe('run_killed');
  });

  describe('by an agent', () => {
    let agent: ChildProcess | null = null;
    afterEach(() => agent?.kill('SIGKILL'));

    /** An agent in a process of its own, with a run, or with a process that waits for one. */
    function startAgent(plan: { readonly spare?: number; readonly assignments: readonly unknown[] }): ChildProcess {
      const path = join(place.folder, 'plan.json');
      const { customNodes } = place.folders;
      writeFileSync(path, JSON.stringify({ agentFolder: place.folder, customNodes, ...plan }));
      rmSync(place.runFolder(), { recursive: true, force: true });
      mkdirSync(place.runFolder(), { recursive: true });
      const program = entryPath('apps/agent/runner/testing/agent-process');
      agent = spawn(process.execPath, [program, path], { stdio: ['ignore', 'ignore', 'inherit'] });
      return agent;
    }

    it.each(['spin', 'wait'])('that is killed is gone within 5 s, though its node goes on (%s)', async (key) => {
      const killed = startAgent({ assignments: [place.assignment(chain(['b', 'Brood', { key }]))] });
      await place.printed('ready');
      const root = refOf(readCookie(place.runFolder())!.pid!);
      const begun = performance.now();
      killed.kill('SIGKILL');
      const lives = () => isAlive(root.pid, root.startTime) || alive(place.folder).length > 0;
      while (lives() && performance.now() - begun < 2 * ENDS_WITHIN_MS) await new Promise((go) => setTimeout(go, 20));
      expect(alive(place.folder)).toEqual([]);
      expect(isAlive(root.pid, root.startTime)).toBe(false);
      expect(performance.now() - begun).toBeLessThan(ENDS_WITHIN_MS);
    });

    it('that lives on is gone when the run’s own process was killed, though it hid from everybody', async () => {
      startAgent({ assignments: [place.assignment(chain(['b', 'Brood', { key: 'wait', amount: UNMARKED }]))] });
      await place.printed('ready');
      expect(alive(place.folder)).toHaveLength(BROOD);
      const { pid } = readCookie(place.runFolder())!;
      process.kill(pid!, 'SIGKILL');
      // The agent takes the cookie away when nothing is left.
      await seen(place.runFolder(), () => readCookie(place.runFolder()) === null);
      expect(alive(place.folder)).toEqual([]);
    });

    it('computes in its own process only: the agent’s never maps a runtime', async () => {
      const watched = startAgent({ assignments: [place.assignment(chain(['q', 'Quiet']))] });
      await place.printed('ready');
      const maps = (pid: number): string => readFileSync(`/proc/${pid}/maps`, 'utf8');
      expect(maps(readCookie(place.runFolder())!.pid!)).toContain('onnxruntime');
      expect(maps(watched.pid!)).not.toContain('onnxruntime');
    });

    it('that is killed is swept by the next one, even when it cannot end itself', async () => {
      const killed = startAgent({ assignments: [place.assignment(chain(['q', 'Quiet']))] });
      await place.printed('ready');
      const root = refOf(readCookie(place.runFolder())!.pid!);
      process.kill(root.pid, 'SIGSTOP');
      killed.kill('SIGKILL');
      expect(await sweepRuns(place.folder)).toEqual(['r1']);
      expect(isAlive(root.pid, root.startTime)).toBe(false);
      expect(existsSync(join(place.runFolder(), 'cookie.json'))).toBe(false);
      expect(await sweepRuns(place.folder)).toEqual([]);
      expect(readFileSync(join(place.runFolder(), 'output.log'), 'utf8')).toBe('ready\n');
    });

    it('that is killed leaves no process that waits for a run', async () => {
      const killed = startAgent({ spare: 1, assignments: [] });
      const spare = place.runFolder('.spare-1');
      await seen(dirname(spare), () => existsSync(spare));
      await seen(spare, () => typeof readCookie(spare)?.pid === 'number');
      const root = refOf(readCookie(spare)!.pid!);
      process.kill(root.pid, 'SIGSTOP');
      killed.kill('SIGKILL');
      expect(await sweepRuns(place.folder)).toEqual([]);
      expect(isAlive(root.pid, root.startTime)).toBe(false);
      expect(existsSync(spare)).toBe(false);
    });
  });
});

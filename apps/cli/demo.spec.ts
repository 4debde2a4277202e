import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath, isAlive } from '@cdui/host';
import { LONG } from '../../testing/long';
import { Going } from './testing/cdui';

let folder: string;
let temporary: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-demo-spec-'));
  temporary = join(folder, 'tmp');
  mkdirSync(temporary);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The demo's own temporary folders lie in one of ours, so that the test sees what is left of them. */
function demo(...args: readonly string[]): Going {
  const env = { ...process.env, CODEFYUI_USER_DATA_DIR: join(folder, 'kept'), TMPDIR: temporary, NO_COLOR: '1' };
  return new Going(
    spawn(process.execPath, [entryPath('apps/cli/demo'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}

/** The demo's folders that are there; native libraries leave files of their own where temporary ones belong. */
const ours = () => readdirSync(temporary).filter((name) => name.startsWith('cdui-demo-'));
const kept = () => join(folder, 'kept', 'data', 'models', 'mnist-cnn.safetensors');

it('trains through a server of its own, says how well, keeps the model, and leaves nothing else', async () => {
  const going = demo(...(LONG ? ['--quick'] : ['--digits', '1920']));
  await going.said('Run submitted');
  const [place] = ours();
  const { pid } = JSON.parse(readFileSync(join(temporary, place!, 'server.addr'), 'utf8')) as { pid: number };
  expect(isAlive(pid)).toBe(true);
  const { pid: agent } = JSON.parse(readFileSync(join(temporary, place!, 'agents/demo/agent.status.json'), 'utf8')) as {
    pid: number;
  };
  expect(isAlive(agent)).toBe(true);
  expect({ code: await going.ended, err: going.err }).toEqual({ code: 0, err: '' });
  const accuracy = Number(/Accuracy {3}([\d.]+) % of 10,000 digits/.exec(going.out)![1]);
  expect(accuracy).toBeGreaterThan(LONG ? 90 : 60);
  expect(going.out).toMatch(/Worker {5}demo\n/);
  expect(going.out).toContain(`Model      ${kept()}`);
  expect(existsSync(kept())).toBe(true);
  expect(ours()).toEqual([]);
  expect([isAlive(pid), isAlive(agent)]).toEqual([false, false]);
}, 180_000);

it('stops its server and removes its folder at Ctrl+C: 130', async () => {
  const going = demo();
  await going.said('▸ started');
  going.child.kill('SIGINT');
  expect(await going.ended).toBe(130);
  expect(ours()).toEqual([]);
  expect(existsSync(kept())).toBe(false);
});

it.each([[['--fast']], [['--digits', '0']], [['--digits', 'x']], [['--quick', '--quick']]])(
  'does not know %j: 2',
  async (args) => {
    const going = demo(...args);
    expect(await going.ended).toBe(2);
    expect(going.err).toContain('--quick');
  },
);

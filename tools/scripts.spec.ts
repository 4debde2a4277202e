import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { refusal } from '../scripts/run.cjs';
import { finished, Project, said } from './testing/project';

const SHOW_ARGUMENTS = `console.log('ran ' + JSON.stringify(process.argv.slice(2)));`;

describe('scripts in a fresh clone', () => {
  let project: Project;

  beforeEach(() => {
    project = new Project({ 'apps/cli/demo.ts': SHOW_ARGUMENTS });
  });

  afterEach(() => project.remove());

  it('install, compile and run, and pass the arguments on', async () => {
    const { code, stdout, stderr } = await project.run('demo', '--quick', 'a b');
    expect(stdout).toBe('ran ["--quick","a b"]\n');
    expect(stderr).toMatch(/Installing dependencies[^]*Compiled 1 of 1 files/);
    expect(code).toBe(0);
    expect(project.npmCalls).toEqual([expect.stringMatching(/^npm ci /)]);
  });

  it('use what is there the second time', async () => {
    await project.run('demo');
    expect(await project.run('demo')).toEqual({ code: 0, stdout: 'ran []\n', stderr: '' });
    expect(project.npmCalls).toHaveLength(1);
  });

  it('install again when the lock file changed or node_modules is gone', async () => {
    await project.run('demo');
    project.write('package-lock.json', JSON.stringify({ packages: { '': { version: '2' } } }));
    await project.run('demo');
    expect(project.npmCalls).toHaveLength(2);
    rmSync(join(project.root, 'node_modules'), { recursive: true });
    await project.run('demo');
    expect(project.npmCalls).toHaveLength(3);
  });

  it('compile only what changed, and forget what is gone', async () => {
    project.write('apps/cli/other.ts', 'export const other = 1;');
    await project.run('build');
    project.write('apps/cli/demo.ts', `console.log('changed');`);
    const { stdout, stderr } = await project.run('demo');
    expect(stdout).toBe('changed\n');
    expect(stderr).toContain('Compiled 1 of 2 files');
    rmSync(join(project.root, 'apps/cli/other.ts'));
    await project.run('build');
    expect(existsSync(join(project.root, 'dist/apps/cli/other.js'))).toBe(false);
  });

  it('resolve aliases, leave specs out and copy data', async () => {
    project.write('libs/protocol/index.ts', `export * from './words';`);
    project.write('libs/protocol/words.ts', `import data from './words.json'; export const word: string = data.word;`);
    project.write('libs/protocol/words.json', `{ "word": "found" }`);
    project.write('libs/protocol/words.spec.ts', `it('is a test', () => {});`);
    project.write('apps/cli/demo.ts', `import { word } from '@cdui/protocol'; console.log(word);`);
    expect((await project.run('demo')).stdout).toBe('found\n');
    expect(existsSync(join(project.root, 'dist/libs/protocol/words.spec.js'))).toBe(false);
  });

  it('name the file that does not compile', async () => {
    project.write('apps/cli/demo.ts', 'const = ;');
    const { code, stdout, stderr } = await project.run('demo');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('apps/cli/demo.ts');
  });

  it('bundle what an app wants bundled, again only when something changed', async () => {
    project.write(
      'apps/cli/bundle.mjs',
      `import { appendFileSync } from 'node:fs';
       import { join } from 'node:path';
       export default async ({ dist }) => {
         const file = join(dist, 'bundled.js');
         appendFileSync(file, 'x');
         return [file];
       };`,
    );
    await project.run('build');
    await project.run('build');
    expect(project.read('dist/bundled.js')).toBe('x');
    project.write('apps/cli/demo.ts', `console.log('changed');`);
    await project.run('build');
    expect(project.read('dist/bundled.js')).toBe('xx');
  });

  it('end as the program ends', async () => {
    project.write('apps/cli/demo.ts', 'process.exitCode = 7;');
    expect((await project.run('demo')).code).toBe(7);
  });

  it('repair an install that failed', async () => {
    project.npm('mkdir -p node_modules/half; exit 3');
    const failed = await project.run('demo');
    expect(failed).toMatchObject({ code: 3, stdout: '' });
    expect(failed.stderr).toContain('npm ci');
    project.npm('');
    expect(await project.run('demo')).toMatchObject({ code: 0, stdout: 'ran []\n' });
    expect(project.npmCalls).toHaveLength(2);
  });

  it('repair an install that was killed', async () => {
    project.npm('mkdir -p node_modules/half; echo installing >&2; sleep 60');
    const killed = project.start('demo');
    const end = finished(killed);
    await said(killed.stderr, '\ninstalling');
    process.kill(-killed.pid!, 'SIGKILL');
    await end;
    project.npm('');
    expect(await project.run('demo')).toMatchObject({ code: 0, stdout: 'ran []\n' });
    expect(project.npmCalls).toHaveLength(2);
  });

  it('end an install at once when interrupted, even if npm does not heed it', async () => {
    project.npm(`trap '' INT TERM; echo installing >&2; while true; do sleep 0.05; done`);
    const child = project.start('demo');
    const end = finished(child);
    await said(child.stderr, '\ninstalling');
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 130, stdout: '' });
  });

  it('end an install that is interrupted before the script goes on after starting it', async () => {
    project.npm(`trap '' INT TERM; echo installing >&2; while true; do sleep 0.05; done`);
    const child = project.startWith(['--require', join(__dirname, 'testing/slow-spawn.cjs')], 'demo');
    const end = finished(child);
    await said(child.stderr, '\ninstalling');
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 130, stdout: '' });
  });

  it('install once when two start at the same time', async () => {
    project.npm('sleep 0.5');
    const both = await Promise.all([project.run('demo', '1'), project.run('demo', '2')]);
    expect(both.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: 'ran ["1"]\n' },
      { code: 0, stdout: 'ran ["2"]\n' },
    ]);
    expect(project.npmCalls).toHaveLength(1);
    expect(both.map(({ stderr }) => stderr).join('')).toMatch(/Waiting for process \d+, which is installing/);
  });

  it('pass an interrupt on, let the program finish, and end with 130', async () => {
    project.write(
      'apps/cli/demo.ts',
      `process.on('SIGINT', () => { console.log('tidied up'); clearInterval(timer); });
       const timer = setInterval(() => {}, 1000);
       console.log('ready');`,
    );
    const child = project.start('demo');
    const end = finished(child);
    await said(child.stdout, 'ready');
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 130, stdout: 'ready\ntidied up\n' });
  });

  it('pass a termination on', async () => {
    project.write('apps/cli/demo.ts', `setInterval(() => {}, 1000); console.log('ready');`);
    const child = project.start('demo');
    const end = finished(child);
    await said(child.stdout, 'ready');
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });
});

describe('refusal', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '100.1.0'])('lets Node %s pass', (version) => {
    expect(refusal(version, '>=20.19')).toBeNull();
  });

  it.each(['20.18.9', '18.20.0', '6.0.0'])('says what is wrong with Node %s', (version) => {
    expect(refusal(version, '>=20.19')).toContain(`needs Node.js 20.19 or newer, and this is ${version}`);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { completionScript, SHELLS } from './scripts';

const root = new Command('cdui').option('-V, --version', 'the version');
const runs = root.command('runs').description("what's there");
runs
  .command('list')
  .description('all of them')
  .option('-q, --search <text>', 'part: of the name')
  .option('--status <s>', 'x');
runs.command('show');
root.command('run').option('--seed <n>', 'a seed');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-completion-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a real bash offers at the end of a line. */
function bash(...words: readonly string[]): readonly string[] {
  const script = join(folder, 'cdui.bash');
  writeFileSync(script, completionScript('bash', root)!);
  writeFileSync(join(folder, 'graph.json'), '{}');
  const line = ['cdui', ...words];
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=${line.length - 1}; _cdui; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['-c', program, 'bash', script, ...line], { cwd: folder, encoding: 'utf8' });
  return out.split('\n').filter((word) => word !== '');
}

it('offers in bash what may follow: commands, their commands, their options, and files', () => {
  expect(bash('')).toEqual(['runs', 'run']);
  expect(bash('ru')).toEqual(['runs', 'run']);
  expect(bash('runs', '')).toEqual(['list', 'show']);
  expect(bash('runs', 'list', '--s')).toEqual(['--search', '--status']);
  expect(bash('--version', 'runs', 's')).toEqual(['show']);
  expect(bash('run', 'gra')).toEqual(['graph.json']);
  expect(bash('run', '--seed', '1', '--')).toEqual(['--seed', '--help']);
});

it('is made for each shell, whatever quotes and colons descriptions hold', () => {
  for (const shell of SHELLS) expect(completionScript(shell, root)).toContain('cdui');
  expect(completionScript('zsh', root)).toContain(`'runs:what'\\''s there'`);
  expect(completionScript('fish', root)).toContain(`-d 'what'\\''s there'`);
  expect(completionScript('tcsh', root)).toBeNull();
});

// Lints and checks the formatting. Arguments replace the folders to lint; `--fix` mends what can be mended.
import { join } from 'node:path';
import { runChild } from './lib/child.mjs';
import { root } from './lib/paths.mjs';
import { ensureDependencies, main } from './lib/prepare.mjs';

await main(async (args) => {
  await ensureDependencies();
  const tool = (path, ...rest) =>
    runChild(process.execPath, [join(root, 'node_modules', path), ...rest], { cwd: root });
  const folders = args.some((arg) => !arg.startsWith('-')) ? args : ['.', ...args];
  const rules = await tool('eslint/bin/eslint.js', '--max-warnings', '0', ...folders);
  const format = await tool(
    'prettier/bin/prettier.cjs',
    '--check',
    '--log-level',
    'warn',
    ...folders.filter((arg) => !arg.startsWith('-')),
  );
  return rules || format;
});

// Checks all types.
import { join } from 'node:path';
import { runChild } from './lib/child.mjs';
import { root } from './lib/paths.mjs';
import { ensureDependencies, main } from './lib/prepare.mjs';

await main(async (args) => {
  await ensureDependencies();
  return runChild(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json', ...args],
    { cwd: root },
  );
});

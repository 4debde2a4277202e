import { join } from 'node:path';
import { runChild } from './child.mjs';
import { root } from './paths.mjs';
import { ensureBuilt, ensureDependencies } from './prepare.mjs';

/** Two at once: specs start threads and processes of their own, and a third would only make them wait for each other. */
const WORKERS = '--maxWorkers=2';

/** Runs the specs; `args` are jest's. Threads and child processes run from `dist/`, so that is brought up to date first. */
export async function runTests(args, env = {}) {
  await ensureDependencies();
  await ensureBuilt();
  const workers = args.some((arg) => /^(--maxWorkers|-w|--runInBand|-i)\b/.test(arg)) ? [] : [WORKERS];
  return runChild(process.execPath, [join(root, 'node_modules/jest/bin/jest.js'), ...workers, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
  });
}

import { join } from 'node:path';
import { build } from './build.mjs';
import { Exit, runChild } from './child.mjs';
import { install, installKey, isInstalled } from './install.mjs';
import { withLock } from './lock.mjs';
import { root, stateFolder } from './paths.mjs';
import { say, step } from './steps.mjs';

/** Installs the dependencies if they are missing or old. Two commands at once do it once. */
export async function ensureDependencies() {
  if (isInstalled(root, installKey(root))) {
    return;
  }
  await withLock(
    join(stateFolder, 'install.lock'),
    async () => {
      if (!isInstalled(root, installKey(root))) {
        await step('Installing dependencies (npm ci), about a minute the first time', () => install(root));
      }
    },
    { onWait: (pid) => say(`▸ Waiting for process ${pid}, which is installing dependencies`) },
  );
}

/** Compiles what changed. */
export async function ensureBuilt() {
  await withLock(
    join(stateFolder, 'build.lock'),
    async () => {
      const started = performance.now();
      const { compiled, files } = await build(root);
      if (compiled > 0) {
        say(`✓ Compiled ${compiled} of ${files} files (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      }
    },
    { onWait: (pid) => say(`▸ Waiting for process ${pid}, which is compiling`) },
  );
}

/** Runs a program of `dist/` with the arguments of the command line, and ends as it ends. */
export async function runBuilt(entry, args) {
  await ensureDependencies();
  await ensureBuilt();
  return runChild(process.execPath, [join(root, 'dist', entry), ...args]);
}

/** Runs a script's body; whatever it returns is the exit status. */
export async function main(body) {
  try {
    process.exitCode = await body(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Exit)) {
      throw error;
    }
    if (error.message !== '') {
      say(error.message);
    }
    process.exitCode = error.code;
  }
}

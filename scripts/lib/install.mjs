import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mustRun } from './child.mjs';

/** Written after an install that ran to its end; its absence therefore also means "interrupted". */
const STAMP = join('node_modules', '.cdui-install.json');

/** npm finishes what it is at, for up to a minute, before it heeds a signal. Nobody has to wait: the next install repairs what is left. */
const GRACE_MS = 1000;

/** What an install depends on: the lock file, and the platform that native packages were chosen for. */
export function installKey(
  root,
  { platform, arch, abi } = { platform: process.platform, arch: process.arch, abi: process.versions.modules },
) {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  return JSON.stringify({ lock, platform, arch, abi });
}

/** Whether the dependencies in `node_modules` are those of the lock file. */
export function isInstalled(root, key = installKey(root)) {
  const stamp = join(root, STAMP);
  if (existsSync(stamp)) {
    return readFileSync(stamp, 'utf8') === key;
  }
  // Installed by hand: npm's own record, which it writes last, must agree with the lock file.
  return agrees(readJson(join(root, 'package-lock.json')), readJson(join(root, 'node_modules', '.package-lock.json')));
}

/**
 * Installs with `npm ci`; the stamp goes first and comes back last.
 *
 * @param {string} root
 * @param {{ run?: (command: string, args: string[], options: any) => Promise<void>, env?: Record<string, string | undefined> }} [options]
 */
export async function install(root, { run = mustRun, env = process.env } = {}) {
  rmSync(join(root, STAMP), { force: true });
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...env, ...headerSettings() },
    // Standard output belongs to the command that is about to run.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    graceMs: GRACE_MS,
  });
  markInstalled(root);
}

/** Records that the dependencies are complete. */
export function markInstalled(root) {
  writeFileSync(join(root, STAMP), installKey(root));
}

/**
 * Where native headers lie beside the Node binary, packages that compile take them from there instead of downloading them.
 *
 * @returns {{npm_config_nodedir?: string}}
 */
export function headerSettings(executable = process.execPath, version = process.version) {
  const prefix = dirname(dirname(realpathSync(executable)));
  try {
    const header = readFileSync(join(prefix, 'include', 'node', 'node_version.h'), 'utf8');
    const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(header)?.[1];
    const found = `v${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`;
    return found === version ? { npm_config_nodedir: prefix } : {};
  } catch {
    return {};
  }
}

function agrees(wanted, present) {
  if (wanted === null || present === null) {
    return false;
  }
  return Object.entries(wanted.packages).every(([path, entry]) => {
    if (path === '') {
      return true;
    }
    const installed = present.packages[path];
    // Optional packages are missing where they are made for another platform.
    return installed === undefined ? entry.optional === true : installed.version === entry.version;
  });
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

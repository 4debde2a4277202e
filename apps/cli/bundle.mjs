import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Packages that Nest and nest-commander load when they are there. The command line needs none of them, and loading them would take longer
 * than everything else together.
 */
const ABSENT =
  /^(@nestjs\/(websockets|microservices|platform-express)(\/.*)?|@fig\/complete-commander|class-transformer|class-validator|cosmiconfig|inquirer|prettier|typescript)$/;

/** Rooms that only `graph run` loads, and only when it runs: they stay compiled files of their own. */
const LAZY = /[\\/]libs[\\/]run-host[\\/]/;

/**
 * Makes `main.js` and the bundle that it runs, with the code that V8 compiled from it: `cdui --help` neither looks for a thousand files nor
 * compiles what it needs. The bundle's name says what is in it, because a start may come between two builds.
 */
export default async function bundle({ root, dist }) {
  const folder = join(dist, 'apps', 'cli');
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'cdui.js')],
    outfile: join(folder, 'bundle.js'),
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    keepNames: true,
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
    absWorkingDir: root,
    external: ['koffi'],
    plugins: [{ name: 'cdui', setup: (plugins) => arrange(plugins, folder) }],
  });
  const { text } = outputFiles[0];
  const name = `bundle-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
  const [program, code, main] = [`${name}.js`, `${name}.cache`, 'main.js'].map((file) => join(folder, file));
  put(program, text);
  put(
    main,
    `#!/usr/bin/env node\n${readFileSync(join(folder, 'start.js'), 'utf8')}`.replaceAll('BUNDLE_NAME', name),
    0o755,
  );
  execFileSync(process.execPath, [main, '--help'], { env: { ...process.env, CDUI_KEEP_CODE: code }, stdio: 'ignore' });
  for (const file of readdirSync(folder)) {
    if (/^bundle-[0-9a-f]{12}\.(js|cache)$/.test(file) && !file.startsWith(name))
      rmSync(join(folder, file), { force: true });
  }
  return [main, program, code];
}

/** Whole and at once: somebody may be starting it. */
function put(file, text, mode = 0o644) {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, file);
}

function arrange(plugins, folder) {
  plugins.onResolve({ filter: ABSENT }, ({ path }) => ({ path, namespace: 'absent' }));
  // A package that is missing throws when it is asked for; those that are imported at the top of a file need an empty one.
  plugins.onLoad({ filter: /.*/, namespace: 'absent' }, ({ path }) => ({
    contents: /^(inquirer|cosmiconfig)$/.test(path)
      ? 'module.exports = {};'
      : `throw Object.assign(new Error("Cannot find module '${path}'"), { code: 'MODULE_NOT_FOUND' });`,
  }));
  plugins.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
    const target = resolve(resolveDir, path);
    if (!LAZY.test(target)) return null;
    const way = relative(folder, target).replaceAll('\\', '/');
    return { path: way.startsWith('.') ? way : `./${way}`, external: true };
  });
}

import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Packages that Nest and nest-commander load when they are there. The command line needs none of them, and loading them would take longer
 * than everything else together.
 */
const ABSENT =
  /^(@nestjs\/(websockets|microservices|platform-express)(\/.*)?|@fig\/complete-commander|class-transformer|class-validator|cosmiconfig|inquirer|prettier|typescript)$/;

/** Rooms that only `graph run` loads, and only when it runs: they stay compiled files of their own. */
const LAZY = /[\\/]libs[\\/]run-host[\\/]/;

/** One file for the command line, so that `cdui --help` does not look for a thousand. */
export default async function bundle({ root, dist }) {
  const outfile = join(dist, 'apps', 'cli', 'main.js');
  const { outputFiles } = await build({
    write: false,
    entryPoints: [join(dist, 'apps', 'cli', 'cdui.js')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    keepNames: true,
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
    absWorkingDir: root,
    banner: { js: '#!/usr/bin/env node' },
    external: ['koffi'],
    plugins: [{ name: 'cdui', setup: (plugins) => arrange(plugins, dirname(outfile)) }],
  });
  // A command that starts while this one builds must find a whole file.
  const temporary = `${outfile}.${process.pid}.tmp`;
  writeFileSync(temporary, outputFiles[0].contents, { mode: 0o755 });
  renameSync(temporary, outfile);
  return [outfile];
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

/*
 * Runs the command line's bundle with the machine code that V8 made of it when it was built: that saves a third of the time until help
 * shows. Kept code of another version of Node is ignored by V8, and the bundle is compiled as usual. The build puts in the bundle's name.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

type Wrapper = (
  exports: unknown,
  require: NodeJS.Require,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

const bundle = join(__dirname, 'BUNDLE_NAME.js');
const kept = join(__dirname, 'BUNDLE_NAME.cache');

const script = new Script(
  `(function (exports, require, module, __filename, __dirname) {${readFileSync(bundle, 'utf8')}\n})`,
  {
    filename: bundle,
    cachedData: readKept(),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  },
);
const program = { exports: {} };
(script.runInThisContext() as Wrapper)(program.exports, createRequire(bundle), program, bundle, __dirname);

// The build asks for help once, to learn which functions a start needs.
if (process.env['CDUI_KEEP_CODE'] === kept) {
  process.on('exit', () => {
    const draft = `${kept}.${process.pid}.draft`;
    writeFileSync(draft, script.createCachedData());
    renameSync(draft, kept);
  });
}

function readKept(): Buffer | undefined {
  try {
    return readFileSync(kept);
  } catch {
    return undefined;
  }
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Exit } from './child.mjs';

const SOURCES = ['apps', 'libs'];
const RECORD = '.build.json';
/** Folders that hold test data or installed code, never program code. */
const SKIPPED = new Set(['node_modules', 'fixtures', 'golden', 'dist']);

/**
 * Compiles `apps/` and `libs/` into `dist/`, file by file, and only what changed since the last time: sources to JavaScript with a
 * source map, JSON data and Python programs as they are. A file whose source is gone is removed. Each file appears at once and whole, because programs
 * may be running from `dist/`.
 *
 * An app may hold a `bundle.mjs` whose default export `({ root, dist }) => Promise<string[]>` makes further files from the compiled
 * ones and returns their paths; it runs when anything was compiled, when it changed itself, or when one of its files is missing.
 *
 * @returns {Promise<{compiled: number, removed: number, files: number}>}
 */
export async function build(root) {
  const dist = join(root, 'dist');
  const files = SOURCES.flatMap((folder) => list(join(root, folder))).map((file) =>
    relative(root, file).split(sep).join('/'),
  );
  const previous = readRecord(join(dist, RECORD));
  const key = hash([readFileSync(join(root, '.swcrc')), readFileSync(join(root, 'package.json')), files.join('\n')]);
  // A file that came or went can change what an alias in another file resolves to; then everything is compiled again.
  const known = previous.key === key ? previous.files : {};
  const record = { key, files: {}, bundles: previous.bundles ?? {} };
  const stale = [];
  for (const file of files) {
    const { mtimeMs, size } = statSync(join(root, file));
    record.files[file] = `${mtimeMs}:${size}`;
    if (known[file] !== record.files[file] || !existsSync(join(dist, outputOf(file)))) {
      stale.push(file);
    }
  }
  await compileAll(root, dist, stale);
  const removed = removeOrphans(dist, new Set(Object.keys(previous.files ?? {})), record.files);
  await bundleAll(root, dist, record, stale.length + removed > 0);
  replace(join(dist, RECORD), JSON.stringify(record));
  return { compiled: stale.length, removed, files: files.length };
}

async function compileAll(root, dist, files) {
  if (files.length === 0) {
    return;
  }
  const { transform } = await import('@swc/core');
  const { $schema, ...options } = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));
  options.jsc.baseUrl = root;
  const failures = [];
  await Promise.all(
    files.map(async (file) => {
      const output = join(dist, outputOf(file));
      const text = readFileSync(join(root, file), 'utf8');
      mkdirSync(dirname(output), { recursive: true });
      if (!file.endsWith('.ts')) {
        replace(output, text);
        return;
      }
      try {
        const { code, map } = await transform(text, { ...options, filename: join(root, file), swcrc: false });
        replace(`${output}.map`, map);
        replace(output, `${code}\n//# sourceMappingURL=${output.slice(output.lastIndexOf(sep) + 1)}.map\n`);
      } catch (error) {
        failures.push(`${file}\n${error.message}`);
      }
    }),
  );
  if (failures.length > 0) {
    throw new Exit(1, `These files do not compile:\n${failures.sort().join('\n')}`);
  }
}

function removeOrphans(dist, before, now) {
  const gone = [...before].filter((file) => !(file in now));
  for (const file of gone) {
    rmSync(join(dist, outputOf(file)), { force: true });
    rmSync(`${join(dist, outputOf(file))}.map`, { force: true });
  }
  return gone.length;
}

async function bundleAll(root, dist, record, changed) {
  const apps = existsSync(join(root, 'apps')) ? readdirSync(join(root, 'apps')) : [];
  const before = record.bundles;
  record.bundles = {};
  for (const app of apps) {
    const script = join(root, 'apps', app, 'bundle.mjs');
    if (!existsSync(script)) {
      continue;
    }
    const key = hash([readFileSync(script)]);
    const last = before[app];
    if (!changed && last?.key === key && last.outputs.every((file) => existsSync(join(root, file)))) {
      record.bundles[app] = last;
      continue;
    }
    const { default: bundle } = await import(pathToFileURL(script).href);
    const outputs = await bundle({ root, dist });
    record.bundles[app] = { key, outputs: outputs.map((file) => relative(root, file)) };
  }
}

function list(folder) {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        return SKIPPED.has(entry.name) ? [] : list(path);
      }
      return isProgram(entry.name) ? [path] : [];
    });
}

function isProgram(name) {
  if (name.endsWith('.ts')) {
    return !name.endsWith('.spec.ts') && !name.endsWith('.d.ts');
  }
  return name.endsWith('.py') || (name.endsWith('.json') && name !== 'project.json');
}

function outputOf(file) {
  return file.replace(/\.ts$/, '.js');
}

function readRecord(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { key: null, files: {}, bundles: {} };
  }
}

function replace(path, content) {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

function hash(parts) {
  const digest = createHash('sha256');
  for (const part of parts) {
    digest.update(part);
    digest.update('\0');
  }
  return digest.digest('hex');
}

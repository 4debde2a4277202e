import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(__dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  scripts: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { resolved?: string; hasInstallScript?: boolean; version?: string }>;
};
const pages = [...markdown('.', false), ...markdown('docs', true)];

function markdown(folder: string, deep: boolean): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: deep })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

describe('packages', () => {
  it('are pinned to exact versions', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('are locked without naming a registry', () => {
    expect(Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined)).toEqual([]);
  });

  it('have a decision for each install script', () => {
    const names = Object.entries(lock.packages)
      .filter(([, entry]) => entry.hasInstallScript)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(names.filter((name) => !(name in manifest.allowScripts))).toEqual([]);
  });

  it('are each explained, and nothing else is', () => {
    const explained = read('docs/dependencies.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]));
    expect(explained.sort()).toEqual(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).sort());
  });
});

describe('documentation', () => {
  it.each(pages)('%s links only to what exists', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !/^[a-z]+:/.test(target));
    expect(targets.filter((target) => !existsSync(resolve(root, dirname(page), target)))).toEqual([]);
  });

  it.each(pages)('%s names only commands that exist', (page) => {
    const commands = [...read(page).matchAll(/\bnpm (?:run (?:--silent )?([\w:]+)|(test|start)\b)/g)];
    const names = commands.map((match) => match[1] ?? match[2]!);
    expect(names.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  it('has every page in its index', () => {
    const index = read('docs/README.md');
    const missing = pages.filter(
      (page) => page.startsWith('docs/') && page !== 'docs/README.md' && !index.includes(`(${relative('docs', page)})`),
    );
    expect(missing).toEqual([]);
  });
});

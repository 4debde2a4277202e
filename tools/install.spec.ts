import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { headerSettings, install, installKey, isInstalled } from '../scripts/lib/install.mjs';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cdui-install-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
}

describe('install', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0', optional: true },
    },
  };

  beforeEach(() => write('package-lock.json', lock));

  it('is done when it ran to its end', async () => {
    expect(isInstalled(root)).toBe(false);
    await install(root, { run: async () => mkdirSync(join(root, 'node_modules')) });
    expect(isInstalled(root)).toBe(true);
  });

  it('is not done when it was cut off, even over a finished one', async () => {
    await install(root, { run: async () => mkdirSync(join(root, 'node_modules')) });
    await expect(install(root, { run: () => Promise.reject(new Error('cut off')) })).rejects.toThrow('cut off');
    expect(isInstalled(root)).toBe(false);
  });

  it('is old when the lock file, the platform or the binary interface is another', async () => {
    await install(root, { run: async () => mkdirSync(join(root, 'node_modules')) });
    const { platform, arch, versions } = process;
    const here = { platform, arch, abi: versions.modules };
    expect(isInstalled(root, installKey(root, here))).toBe(true);
    expect(isInstalled(root, installKey(root, { ...here, abi: 'other' }))).toBe(false);
    expect(isInstalled(root, installKey(root, { ...here, arch: 'other' as never }))).toBe(false);
    write('package-lock.json', { packages: {} });
    expect(isInstalled(root)).toBe(false);
  });

  it.each([
    ['everything', { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } }, true],
    ['all but an optional package', { 'node_modules/a': { version: '1.0.0' } }, true],
    ['another version', { 'node_modules/a': { version: '1.0.1' } }, false],
    ['too little', { 'node_modules/b': { version: '1.0.0' } }, false],
  ])('accepts what a person installed by hand only if it is complete: %s', (_what, packages, accepted) => {
    write('node_modules/.package-lock.json', { packages });
    expect(isInstalled(root)).toBe(accepted);
  });

  it('gives npm the headers beside the binary', async () => {
    const calls: { command: string; args: string[]; env: Record<string, string> }[] = [];
    mkdirSync(join(root, 'node_modules'));
    await install(root, {
      run: async (command: string, args: string[], options: { env: Record<string, string> }) => {
        calls.push({ command, args, env: options.env });
      },
      env: { KEPT: 'yes' },
    });
    expect(calls).toEqual([
      { command: 'npm', args: expect.arrayContaining(['ci']), env: { KEPT: 'yes', ...headerSettings() } },
    ]);
  });
});

describe('native headers', () => {
  const header = (major: number) =>
    `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION 19\n#define NODE_PATCH_VERSION 1\n`;

  beforeEach(() => write('bin/node', ''));

  it('are used when they lie beside the binary and are of its version', () => {
    write('include/node/node_version.h', header(20));
    expect(headerSettings(join(root, 'bin/node'), 'v20.19.1')).toEqual({ npm_config_nodedir: root });
  });

  it('are left alone when they are of another version', () => {
    write('include/node/node_version.h', header(18));
    expect(headerSettings(join(root, 'bin/node'), 'v20.19.1')).toEqual({});
  });

  it('need not be there', () => {
    expect(headerSettings(join(root, 'bin/node'), 'v20.19.1')).toEqual({});
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeContext } from '@cdui/node-sdk';
import { defineNode } from '@cdui/node-sdk';
import { catalogueOf } from '../catalogue';
import type { CustomNodeSnapshot } from './custom-node-folder';
import { CustomNodeFolder } from './custom-node-folder';

const builtins = [
  defineNode({ name: 'Start', category: 'Control', description: '', execute: () => ({}) }),
  defineNode({ name: 'Print', category: 'Utility', description: '', execute: () => ({}) }),
];
const double = (name: string, factor = 2): string =>
  `({ name: '${name}', category: 'Mine', description: '', inputs: { x: 'SCALAR' }, outputs: { y: 'SCALAR' },
      execute: (_context, inputs) => ({ y: inputs.number('x') * ${factor} }) })`;

describe('CustomNodeFolder', () => {
  let parent: string;
  let folder: string;
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const open = (): CustomNodeFolder => new CustomNodeFolder({ folder, builtins });
  const run = async (snapshot: CustomNodeSnapshot, type: string, x: number): Promise<unknown> => {
    const node = snapshot.registry.get(type);
    return (await node?.execute({ nodeId: 'n' } as NodeContext, { x }, {}))?.outputs['y'];
  };

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'cdui-custom-'));
    folder = join(parent, 'nodes');
    mkdirSync(folder);
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  it('has the built-in nodes when there is no folder', () => {
    for (const missing of [null, join(parent, 'absent')]) {
      const { registry, problems } = new CustomNodeFolder({ folder: missing, builtins }).snapshot();
      expect(registry.names()).toEqual(['Print', 'Start']);
      expect(problems).toEqual([]);
    }
  });

  it('loads CommonJS, ES modules and TypeScript, one node or several', async () => {
    write('one.js', `module.exports = (sdk) => sdk.defineNode(${double('One')});`);
    write('two.cjs', `module.exports = () => [${double('Two')}, ${double('Three', 3)}];`);
    write(
      'four.mjs',
      `import { join } from 'node:path';\nexport default (sdk) => ${double('Four', 4)};\nexport const p = join('a');`,
    );
    write(
      'five.ts',
      `import type { NodeSpec } from '@cdui/node-sdk';
       const factor: number = 5;
       export default (sdk: { defineNode(spec: NodeSpec): unknown }) => sdk.defineNode(${double('Five', 0).replace('* 0', '* factor')} as NodeSpec);`,
    );
    mkdirSync(join(folder, 'lib'));
    write('lib/factor.ts', 'export const factor: number = 6;');
    write('_seven.js', 'exports.seven = 7;');
    write(
      'six.ts',
      `import { factor } from './lib/factor';\nexport default () => ${double('Six', 0).replace('* 0', '* factor')};`,
    );
    write(
      'seven.js',
      `const { seven } = require('./_seven');\nmodule.exports = () => ${double('Seven', 0).replace('* 0', '* seven')};`,
    );
    write(
      'eight.cjs',
      `module.exports = () => ({ ...${double('Eight')}, execute: async () => ({ y: (await import('node:path')).sep.length * 8 }) });`,
    );
    write('notes.txt', 'not a module');
    write('types.d.ts', 'export type A = 1;');
    const snapshot = open().snapshot();
    expect(snapshot.problems).toEqual([]);
    for (const [type, result] of Object.entries({
      One: 2,
      Two: 2,
      Three: 3,
      Four: 4,
      Five: 5,
      Six: 6,
      Seven: 7,
      Eight: 8,
    })) {
      expect([type, await run(snapshot, type, 1)]).toEqual([type, result]);
    }
    expect(snapshot.registry.get('Five')?.definition.provider).toBe('custom:five.ts');
    expect(snapshot.registry.get('Start')?.definition.provider).toBe('builtin');
  });

  it('reports broken files with their line and keeps everything else', async () => {
    write('good.js', `module.exports = () => ${double('Good')};`);
    write('syntax.js', 'const a = 1;\n\nconst b = ;\n');
    write('typed.ts', 'const a: number = 1;\nconst b: = 2;\n');
    write('throws.js', '\nthrow new Error("no network");');
    write('factory.js', 'module.exports = () => {\n\n\n  throw new Error("inside");\n};');
    write('shape.js', 'module.exports = { name: "X" };');
    write(
      'member.js',
      'module.exports = () => ({ name: "X", category: "Mine", description: "", inputs: { a: "TENSORS" }, execute() {} });',
    );
    write('nothing.js', 'module.exports = () => undefined;');
    write('thrown.js', 'throw "just a text";');
    write('absent.js', 'require("./not-there");');
    write('_broken.ts', '\n\n\nconst c: = 1;');
    write('helped.js', 'require("./_broken");');
    const snapshot = open().snapshot();
    expect(snapshot.registry.names()).toEqual(['Good', 'Print', 'Start']);
    await expect(run(snapshot, 'Good', 4)).resolves.toBe(8);
    expect(Object.fromEntries(snapshot.problems.map(({ file, message, line }) => [file, [message, line]]))).toEqual({
      'syntax.js': [expect.stringContaining('Unexpected token'), 3],
      'typed.ts': [expect.stringContaining('Unexpected token'), 2],
      'throws.js': ['no network', 2],
      'factory.js': ['inside', 4],
      'shape.js': [expect.stringContaining('must export a function'), undefined],
      'member.js': [expect.stringContaining('port "a" of "inputs" must have one of the types'), undefined],
      'nothing.js': [expect.stringContaining('must be an object'), undefined],
      'thrown.js': ['just a text', undefined],
      'helped.js': [expect.stringMatching(/_broken\.ts: Unexpected token \(4:10\)/), undefined],
      'absent.js': [expect.stringContaining('not-there'), 1],
    });
  });

  it('does not wait for a pipe, nor for a device', async () => {
    write('good.js', `module.exports = () => ${double('Good')};`);
    write('helped.js', "require('./_pipe');");
    for (const name of ['pipe.js', '_pipe.js', 'other.ts']) execFileSync('mkfifo', [join(folder, name)]);
    symlinkSync('/dev/zero', join(folder, 'endless.js'));
    const snapshot = open().snapshot();
    await expect(run(snapshot, 'Good', 4)).resolves.toBe(8);
    expect(snapshot.problems.map(({ file, message }) => [file, message.includes('it is no file')])).toEqual([
      ['endless.js', true],
      ['helped.js', true],
      ['other.ts', true],
      ['pipe.js', true],
    ]);
  });

  it('refuses names that are taken or reserved, and keeps the other nodes of the file', () => {
    write('a.js', `module.exports = () => [${double('Mine')}, ${double('Start')}, ${double('LSTM')}];`);
    write('b.js', `module.exports = () => [${double('Mine')}, ${double('Other')}];`);
    const { registry, problems } = open().snapshot();
    expect(registry.names()).toEqual(['Mine', 'Other', 'Print', 'Start']);
    expect(registry.get('Mine')?.definition.provider).toBe('custom:a.js');
    expect(problems).toEqual([
      { file: 'a.js', message: expect.stringContaining('"Start" is the name of a built-in node') },
      { file: 'a.js', message: expect.stringContaining('"LSTM" is reserved') },
      { file: 'b.js', message: expect.stringContaining('"Mine" is already defined by a.js') },
    ]);
  });

  it('reloads changed files and their helpers; a run keeps the snapshot it began with', async () => {
    write('_factor.js', 'module.exports = 2;');
    write(
      'a.js',
      `const factor = require('./_factor');\nmodule.exports = () => ${double('A', 0).replace('* 0', '* factor')};`,
    );
    const custom = open();
    const before = custom.snapshot();
    const hash = catalogueOf(before.registry).catalogHash;
    write('_factor.js', 'module.exports = 10;');
    write('b.js', `module.exports = () => ${double('B')};`);
    const after = custom.reload();
    await expect(run(before, 'A', 1)).resolves.toBe(2);
    await expect(run(after, 'A', 1)).resolves.toBe(10);
    expect(before.registry.get('B')).toBeUndefined();
    expect(custom.snapshot()).toBe(after);
    expect(catalogueOf(after.registry).catalogHash).not.toBe(hash);

    write('a.js', 'module.exports = () => {');
    const broken = custom.reload();
    expect(broken.registry.names()).toEqual(['B', 'Print', 'Start']);
    expect(broken.problems.map((problem) => problem.file)).toEqual(['a.js']);
    await expect(run(after, 'A', 1)).resolves.toBe(10);
  });

  it('notices changes by itself, also of a folder that appears later', async () => {
    rmSync(folder, { recursive: true });
    const custom = open();
    let resolveNext: (snapshot: CustomNodeSnapshot) => void = () => undefined;
    const next = (has: string): Promise<CustomNodeSnapshot> =>
      new Promise((resolve) => {
        resolveNext = (snapshot) => {
          if (snapshot.registry.get(has)) resolve(snapshot);
        };
        resolveNext(custom.snapshot());
      });
    const stop = custom.watch((snapshot) => resolveNext(snapshot));
    try {
      const first = next('A');
      mkdirSync(folder);
      write('a.js', `module.exports = () => ${double('A')};`);
      await expect(first.then((snapshot) => run(snapshot, 'A', 1))).resolves.toBe(2);
      const second = next('B');
      write('b.ts', `export default () => ${double('B')};`);
      await expect(second.then((snapshot) => run(snapshot, 'B', 1))).resolves.toBe(2);
    } finally {
      stop();
    }
  });
});

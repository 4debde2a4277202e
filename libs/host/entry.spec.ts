import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CodedError } from '@cdui/protocol';
import { entryPath, programRoot } from './entry';

describe('entry', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cdui-entry-'));
    writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'cdui' }));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('finds the root from source', () => {
    expect(programRoot()).toBe(resolve(__dirname, '../..'));
  });

  it('finds the root from compiled code and from inside a bundle, past packages of other names', () => {
    const inner = join(root, 'dist/apps/cli');
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(inner, 'package.json'), JSON.stringify({ name: 'something-else' }));
    expect(programRoot(inner)).toBe(root);
    expect(programRoot(join(root, 'dist/libs/host'))).toBe(root);
  });

  it('says so when there is no root above', () => {
    expect(() => programRoot(tmpdir())).toThrow(
      expect.objectContaining({ code: 'program_root_not_found', params: { from: tmpdir() } }),
    );
  });

  it('gives the compiled file of an entry', () => {
    const file = join(root, 'dist/libs/tensor/onnx/worker.js');
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '');
    expect(entryPath('libs/tensor/onnx/worker', root)).toBe(file);
  });

  it('names the file and the way out when it was not built', () => {
    const act = () => entryPath('libs/tensor/onnx/worker', root);
    expect(act).toThrow(CodedError);
    expect(act).toThrow(/libs\/tensor\/onnx\/worker\.js does not exist.*npm run build/);
    expect(act).toThrow(expect.objectContaining({ code: 'not_built' }));
  });
});

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { CodedError, type RunFolders } from '@cdui/protocol';
import { fileNamePart, requireSafetensors, resolveModelPath, withSafetensorsSuffix, writeAtomically } from './paths';

let root: string;
let folders: RunFolders;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cdui-paths-')));
  for (const folder of ['data/models', 'data/images', 'outside', 'data-secret'])
    mkdirSync(join(root, folder), { recursive: true });
  folders = { data: join(root, 'data'), models: join(root, 'data/models') } as RunFolders;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('resolveModelPath', () => {
  it('takes relative paths from the folder of models, and absolute ones in the data folder', async () => {
    expect(await resolveModelPath('a/b.safetensors', folders)).toBe(join(root, 'data/models/a/b.safetensors'));
    expect(await resolveModelPath('../images/x.safetensors', folders)).toBe(join(root, 'data/images/x.safetensors'));
    expect(await resolveModelPath(join(root, 'data/x.safetensors'), folders)).toBe(join(root, 'data/x.safetensors'));
  });

  it.each([
    '../../outside/x',
    '../../../../../../etc/passwd',
    '/etc/passwd',
    '../../data-secret/x',
    '../..',
    '..',
    'a/../../../x',
  ])('refuses %s', async (path) => {
    await expect(resolveModelPath(path, folders)).rejects.toMatchObject({ code: 'path_outside_data' });
  });

  it.each(['', '  ', 'a\0b'])('refuses %j', async (path) => {
    await expect(resolveModelPath(path, folders)).rejects.toMatchObject({ code: 'invalid_param' });
  });

  it('follows links before it decides', async () => {
    symlinkSync(join(root, 'outside'), join(root, 'data/models/link'));
    symlinkSync(join(root, 'outside/file'), join(root, 'data/models/file'));
    writeFileSync(join(root, 'outside/file'), '');
    symlinkSync(join(root, 'data/images'), join(root, 'data/models/inner'));
    await expect(resolveModelPath('link/x', folders)).rejects.toMatchObject({ code: 'path_outside_data' });
    await expect(resolveModelPath('link/new/deep/x', folders)).rejects.toMatchObject({ code: 'path_outside_data' });
    await expect(resolveModelPath('file', folders)).rejects.toMatchObject({ code: 'path_outside_data' });
    expect(await resolveModelPath('inner/x', folders)).toBe(join(root, 'data/images/x'));
  });

  it('works when the data folder itself is reached over a link', async () => {
    symlinkSync(join(root, 'data'), join(root, 'alias'));
    const linked = { data: join(root, 'alias'), models: join(root, 'alias/models') } as RunFolders;
    expect(await resolveModelPath('x', linked)).toBe(join(root, 'data/models/x'));
  });

  it('never leaves the data folder, whatever the path', async () => {
    const part = fc.constantFrom('..', '.', 'a', 'models', 'images', 'outside', '', '...', '~', '%2e%2e', '\\..');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 8 }), fc.boolean(), async (parts, absolute) => {
        const path = (absolute ? `${root}/` : '') + parts.join('/');
        try {
          expect(await resolveModelPath(path, folders)).toMatch(new RegExp(`^${join(root, 'data')}/.`));
        } catch (error) {
          expect(error).toBeInstanceOf(CodedError);
        }
      }),
    );
  });
});

describe('withSafetensorsSuffix', () => {
  it.each([
    ['model.pt', 'model.safetensors'],
    ['a.b/model.PTH', 'a.b/model.safetensors'],
    ['model', 'model.safetensors'],
    ['model.v2', 'model.v2.safetensors'],
    ['model.safetensors', 'model.safetensors'],
  ])('%s becomes %s', (given, wanted) => {
    expect(withSafetensorsSuffix(given)).toBe(wanted);
  });
});

describe('writeAtomically', () => {
  it('makes the folder, puts the file in place and leaves nothing else', async () => {
    const path = join(root, 'data/models/new/deep/m.safetensors');
    expect(await writeAtomically(path, async (temporary) => (writeFileSync(temporary, 'new'), 7))).toBe(7);
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(join(root, 'data/models/new/deep'))).toEqual(['m.safetensors']);
  });

  it('keeps the old file when writing fails halfway', async () => {
    const path = join(root, 'data/models/m.safetensors');
    writeFileSync(path, 'old');
    const failing = writeAtomically(path, async (temporary) => {
      writeFileSync(temporary, 'ha');
      throw new Error('disk full');
    });
    await expect(failing).rejects.toThrow('disk full');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(join(root, 'data/models'))).toEqual(['m.safetensors']);
  });
});

describe('requireSafetensors', () => {
  it('refuses other formats and files that are not there', async () => {
    await expect(requireSafetensors(join(root, 'm.pt'))).rejects.toMatchObject({ code: 'option_not_available' });
    await expect(requireSafetensors(join(root, 'm.safetensors'))).rejects.toMatchObject({ code: 'file_not_found' });
    mkdirSync(join(root, 'folder.safetensors'));
    await expect(requireSafetensors(join(root, 'folder.safetensors'))).rejects.toMatchObject({
      code: 'file_not_found',
    });
  });
});

it('file names are made of harmless characters', () => {
  expect(fileNamePart('block/a__b:c d\n')).toBe('block_a__b_c_d_');
});

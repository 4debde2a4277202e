import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from './make-folder';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'cdui-folders-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('makes all that is missing, also when several ask at once, and leaves what is there', async () => {
  const folder = join(root, 'a', 'b', 'c');
  await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(root, 'a', 'd'))]);
  await makeFolder(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
  expect(statSync(join(root, 'a', 'd')).isDirectory()).toBe(true);
});

it('names the folder and says why when a file is in its way', async () => {
  writeFileSync(join(root, 'file'), '');
  const folder = join(root, 'file', 'below');
  await expect(makeFolder(folder)).rejects.toMatchObject({
    code: 'folder_not_made',
    message: `cannot make the folder ${folder}: a file is in its way`,
    params: { folder, error: 'ENOTDIR' },
  });
});

const onLinux = process.platform === 'linux' ? it : it.skip;
onLinux('ends where the system answers "not there" for what cannot be made', async () => {
  await expect(makeFolder('/proc/nope/data/models')).rejects.toMatchObject({ code: 'folder_not_made' });
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';

const root = programRoot();
const check = (...folder: string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [join(root, 'tools/openapi.mjs'), '--check', ...folder], { encoding: 'utf8', cwd: root });

describe('the OpenAPI document in the repository', () => {
  it('is what the server serves, is OpenAPI 3.1, and so is its client', () => {
    expect(check()).toMatchObject({ status: 0 });
  });

  it('is told from one that is out of date', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-openapi-'));
    cpSync(join(root, 'libs/api-client'), join(folder, 'libs/api-client'), { recursive: true });
    const file = join(folder, 'libs/api-client/openapi.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('/api/runs/{id}/cancel', '/api/runs/{id}/stop'));
    const { status, stdout } = check(folder);
    rmSync(folder, { recursive: true });
    expect([status, stdout]).toEqual([1, 'out of date: libs/api-client/openapi.json\n']);
  });
});

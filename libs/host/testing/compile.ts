import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Compiles a C file of this folder with gcc into a temporary folder of its own, which is the caller's to remove.
 * @param flags such as `-shared`
 * @returns where the program or library lies
 */
export async function compileC(name: string, flags: readonly string[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cdui-c-'));
  const out = join(folder, basename(name, '.c'));
  await run('gcc', ['-Wall', '-Wextra', '-Werror', '-O1', ...flags, '-o', out, join(__dirname, name)]);
  return out;
}

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { statSync } from 'node:fs';
import { entryPath } from '@cdui/host/entry';
import { EXIT } from '../exit-codes';
import { Failure } from '../failure';
import { bytes } from '../terminal/units';
import { serverFolders } from './data-folder';
import { findServer } from './server-files';

/** Copies the database of the server that is meant. The control plane's own program does it: only it knows the database. */
export async function backUp(
  file: string,
  { force = false, json = false }: { readonly force?: boolean; readonly json?: boolean },
): Promise<number> {
  if (file.trim() === '')
    throw new Failure('backup_failed', 'The name of the file is empty: name the file that the copy goes to');
  const target = resolve(file);
  const folder = await folderOfServer();
  const args = [entryPath('apps/control-plane/backup'), target, ...(force ? ['--force'] : [])];
  const { code, said } = await run(args, folder);
  if (code !== 0) throw new Failure('backup_failed', said.trim() || `the backup ended with ${code}`);
  const size = statSync(target).size;
  process.stdout.write(
    json
      ? `${JSON.stringify({ file: target, bytes: size, folder }, null, 2)}\n`
      : `The database of ${folder} is in ${target} (${bytes(size)}).\n`,
  );
  return EXIT.ok;
}

async function folderOfServer(): Promise<string> {
  const folders = serverFolders(process.env);
  for (const folder of folders) if ((await findServer(folder)) !== null) return folder;
  return folders[0]!;
}

function run(args: readonly string[], folder: string): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((done, reject) => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, CODEFYUI_USER_DATA_DIR: folder },
    });
    let said = '';
    child.stderr.on('data', (text) => (said += String(text)));
    child.once('error', reject);
    child.once('close', (code, signal) => done({ code: code ?? 1, said: signal ? `${said}ended by ${signal}` : said }));
  });
}

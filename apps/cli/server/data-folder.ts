import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { programRoot } from '@cdui/host/entry';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where `cdui start` keeps what belongs to the server: `CODEFYUI_USER_DATA_DIR`, else `~/.codefyui`. */
export function userDataFolder(env: Environment): string {
  return resolve(env['CODEFYUI_USER_DATA_DIR']?.trim() || join(homedir(), '.codefyui'));
}

/**
 * Where a server may be running that a command means: the folder that was named, and only that; else the user's own, and then the one in
 * which `npm start` of this clone keeps its data.
 */
export function serverFolders(env: Environment, program: string = programRoot()): readonly string[] {
  const named = env['CODEFYUI_USER_DATA_DIR']?.trim();
  return named ? [resolve(named)] : [userDataFolder(env), join(program, '.codefyui')];
}

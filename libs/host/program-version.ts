import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRoot } from './entry';

/** The program's version, from package.json. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(join(programRoot(), 'package.json'), 'utf8')) as { version: string }).version;
}

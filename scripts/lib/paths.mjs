import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone's root. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** What the repository's own scripts keep between runs: locks and demo data. Ignored by git. */
export const stateFolder = join(root, '.codefyui');

/** Compiled code. */
export const distFolder = join(root, 'dist');

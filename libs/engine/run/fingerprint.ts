import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** Files up to this size count with their content: two writes within one tick of the file system's clock look alike otherwise. */
export const HASHED_BYTES = 8 * 1024 * 1024;

/** What a file is at this moment: size, time of change and, up to 8 MB, the sha256 of its content; null when it cannot be read. */
export interface FileFingerprint {
  readonly path: string;
  readonly size: number;
  readonly modified: number;
  readonly sha256: string | null;
}

export async function fingerprint(path: string): Promise<FileFingerprint | null> {
  try {
    const found = await stat(path);
    // A pipe would be waited for.
    if (!found.isFile()) return null;
    const { size, mtimeMs } = found;
    return { path, size, modified: mtimeMs, sha256: size <= HASHED_BYTES ? await sha256File(path) : null };
  } catch {
    return null;
  }
}

async function sha256File(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

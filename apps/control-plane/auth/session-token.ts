import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@cdui/host';

/** The header that carries the token. */
export const TOKEN_HEADER = 'x-codefyui-token';
export const TOKEN_FILE = 'session.token';

/**
 * What a request that changes something must show: new at every start, and readable only by whoever may read the user data folder, so that a
 * web page of another site, which can send requests here, has none.
 */
export class SessionToken {
  private readonly digest: Buffer;

  constructor(readonly value: string = randomBytes(32).toString('base64url')) {
    this.digest = sha256(value);
  }

  /** Takes the same time for every wrong answer: digests have one length, whatever was sent. */
  matches(given: unknown): boolean {
    return typeof given === 'string' && timingSafeEqual(sha256(given), this.digest);
  }

  /** Leaves the token where the command line and workers of this machine look for it. */
  async write(folder: string): Promise<void> {
    await writePrivate(folder, TOKEN_FILE, this.value);
  }
}

/** Writes a file that only its owner may read. Readers see the old text or the new one, never a part. */
export async function writePrivate(folder: string, name: string, text: string): Promise<void> {
  await makeFolder(folder);
  await chmod(folder, 0o700).catch(() => undefined);
  const draft = join(folder, `.${name}.${process.pid}.draft`);
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, name));
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

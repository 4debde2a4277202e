import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '@cdui/protocol';
import { makeFolder } from './make-folder';
import { isAlive, processStart } from './process-start';
import { systemWords } from './system-words';

/** Who holds a lock, as its file says. */
export interface LockHolder {
  readonly pid: number;
  /** See `processStart`; null where the system does not tell. */
  readonly started: string | null;
  /** Where it answers; null until it does. */
  readonly url: string | null;
  /** Whether it is about to end. */
  readonly stopping: boolean;
}

/** A lock that this process holds: until `release`, or until the process is gone, whatever ended it. */
export interface Lock {
  /** Tells whoever asks where the holder answers. */
  announce(url: string): void;
  /** Tells them that the holder is about to end. */
  leave(): void;
  release(): void;
  /** Lets go of it, and removes the file if there was none before: for whoever turns out not to need it. */
  discard(): void;
}

/** Whoever only looks whether a lock is held holds it for an instant (`lockHolder`); the one that wants it asks again. */
const TRIES = 5;
const PAUSE_MS = 20;

// flock(2): the numbers are the same on Linux and the BSDs, macOS included.
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
/** How the file is opened by one that only asks: not even a pipe of that name keeps it waiting. */
const ASK = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);
let flock: ((fd: number, operation: number) => number) | undefined;

/**
 * Takes a lock file for this process alone. On Linux and macOS it is `flock` on the open file: the kernel lets go of it when the process
 * ends, a killed one included, so nothing stale is ever left; and the file is closed in programs that the process starts (`O_CLOEXEC`), so
 * that none of them keeps it. A file that was removed between being opened and being locked is no lock: two processes would hold two of one name.
 *
 * On Windows, which has no `flock`, the holder's number in the file stands for the lock and counts as long as that process lives: two
 * that start in the same instant can both get it.
 *
 * @returns null when another process holds it
 * @throws CodedError `lock_failed` when the file cannot be opened or written, or its file system has no locks; `folder_not_made`
 */
export async function acquireLock(file: string): Promise<Lock | null> {
  await makeFolder(dirname(file));
  const isNew = !existsSync(file);
  for (let attempt = 1; ; attempt++) {
    const fd = await tryLock(file);
    if (fd !== null) return held(fd, file, isNew);
    if (attempt === TRIES) return null;
    await sleep(PAUSE_MS);
  }
}

/**
 * Who holds a lock at this moment; null when nobody does. `LockHolder.pid` is 0 when the holder has not said yet who it is. It writes nothing: the
 * folder may be read-only.
 * @throws CodedError `lock_failed` when the file may not be read or its file system has no locks
 */
export async function lockHolder(file: string): Promise<LockHolder | null> {
  let fd: number | null;
  try {
    fd = await tryLock(file, ASK);
  } catch (error) {
    if (error instanceof CodedError && error.params['error'] === 'ENOENT') return null;
    throw error;
  }
  if (fd !== null) {
    closeSync(fd);
    return null;
  }
  const holder = read(file);
  // Between taking the lock and saying so the file still names the one before.
  return holder && isAlive(holder.pid, holder.started) ? holder : { pid: 0, started: null, url: null, stopping: false };
}

/**
 * Who the file says holds the lock, if that process still lives: without looking at the lock itself, so at once. A holder that lets go empties the
 * file, and one that was killed lives no more; where the system does not tell when a process started, another with its number passes for it.
 */
export function statedHolder(file: string): LockHolder | null {
  const holder = read(file);
  return holder !== null && isAlive(holder.pid, holder.started) ? holder : null;
}

function held(fd: number, file: string, isNew: boolean): Lock {
  let open = true;
  let holder: LockHolder = { pid: process.pid, started: processStart(process.pid), url: null, stopping: false };
  const write = (news: Partial<LockHolder>): void => {
    if (!open) return;
    holder = { ...holder, ...news };
    const text = Buffer.from(`${JSON.stringify(holder)}\n`);
    try {
      // What is overwritten in its place needs no room on a full disk.
      for (let done = 0; done < text.length;) done += writeSync(fd, text, done, text.length - done, done);
      ftruncateSync(fd, text.length);
    } catch (error) {
      throw lockFailed(file, (error as NodeJS.ErrnoException).code ?? String(error));
    }
  };
  const release = (): void => {
    if (!open) return;
    open = false;
    ftruncateSync(fd);
    closeSync(fd);
  };
  try {
    write({});
  } catch (error) {
    release();
    throw error;
  }
  return {
    announce: (url) => write({ url }),
    leave: () => write({ stopping: true }),
    release,
    discard: () => {
      if (open && isNew) removeOpen(file);
      release();
    },
  };
}

/** While the lock is held, so that nobody can have locked the file that goes. Windows removes no open file: there it stays. */
function removeOpen(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It only tells nobody anything.
  }
}

/** The open, locked file; null when another process has it locked. */
async function tryLock(file: string, flags = constants.O_RDWR | constants.O_CREAT): Promise<number | null> {
  let fd: number;
  try {
    fd = openSync(file, flags, 0o600);
  } catch (error) {
    throw lockFailed(file, (error as NodeJS.ErrnoException).code ?? String(error));
  }
  try {
    if ((await lockOpened(file, fd, flags === ASK ? LOCK_SH : LOCK_EX)) && isStill(file, fd)) return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return null;
}

/** Whether the name leads to the open file: its last holder may have removed it before this one had the lock. */
function isStill(file: string, fd: number): boolean {
  if (process.platform === 'win32') return true;
  const [now, opened] = [statSync(file, { throwIfNoEntry: false }), fstatSync(fd)];
  return now !== undefined && now.ino === opened.ino && now.dev === opened.dev;
}

async function lockOpened(file: string, fd: number, kind: number): Promise<boolean> {
  if (process.platform === 'win32') {
    const holder = read(file);
    return holder === null || holder.pid === process.pid || !isAlive(holder.pid, holder.started);
  }
  // Loaded only by who locks: help and mistakes on the command line do without.
  const koffi = await import('koffi');
  flock ??= koffi.load(null).func('int flock(int fd, int operation)');
  if (flock(fd, kind | LOCK_NB) === 0) return true;
  const code = koffi.errno();
  if (code === koffi.os.errno['EWOULDBLOCK'] || code === koffi.os.errno['EAGAIN']) return false;
  const name = Object.entries(koffi.os.errno).find(([, value]) => value === code)?.[0] ?? String(code);
  throw lockFailed(file, name);
}

function read(file: string): LockHolder | null {
  try {
    const { pid, started, url, stopping } = JSON.parse(readFileSync(file, 'utf8')) as Partial<LockHolder>;
    if (typeof pid !== 'number') return null;
    return { pid, started: started ?? null, url: url ?? null, stopping: stopping === true };
  } catch {
    return null;
  }
}

function lockFailed(file: string, error: string): CodedError {
  return new CodedError('lock_failed', `cannot lock ${file}: ${systemWords(error)}`, { file, error });
}

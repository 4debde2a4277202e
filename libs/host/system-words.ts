/** What the system's code for a failure means; the code itself where it is a rare one. */
export function systemWords(code: string): string {
  return WORDS[code] ?? code;
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EFBIG: 'no file may become that large',
  EDQUOT: 'the quota of the disk is used up',
  ENOTDIR: 'a file is in its way',
  EEXIST: 'a file is in its way',
  EISDIR: 'a folder is in its way',
  ELOOP: 'links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'there is no such file or folder',
  EINVAL: 'the system does not take such a name',
  EBADF: 'the file was closed',
  EIO: 'the disk reported an error',
  EMFILE: 'too many files are open',
  ENOLCK: 'the file system has no locks',
};

import { systemWords } from '@cdui/host/system-words';
import { Failure } from './failure';

/** One sentence about a file or folder that could not be written, in place of the system's error. */
export function notWritten(path: string, error: unknown, wayOut = ''): Failure {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const words = code === 'ENOENT' ? 'the folder for it is not there' : systemWords(code);
  return new Failure('file_not_written', `cannot write ${path}: ${words}${wayOut}`, undefined, { path, error: code });
}

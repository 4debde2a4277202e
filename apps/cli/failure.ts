import { systemWords } from '@cdui/host/system-words';
import { EXIT } from './exit-codes';

/** What ends a command before its work is done: one sentence for people, a code for programs. */
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: number = EXIT.failed,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

/** The failure as text on standard error, or as a JSON document on standard output. Anything that is no failure is a defect: its stack is shown. */
export function reportFailure(
  error: unknown,
  json: boolean,
  out: { write(text: string): unknown } = process.stdout,
  aside: { write(text: string): unknown } = process.stderr,
): number {
  const known = asFailure(error);
  if (json) {
    const { code, message, details } = known ?? new Failure('internal_error', String(error));
    out.write(`${JSON.stringify({ error: { code, message, details } }, null, 2)}\n`);
  } else if (known) aside.write(`error: ${known.message}\n`);
  if (!known) aside.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return known?.exitCode ?? EXIT.failed;
}

function asFailure(error: unknown): Failure | null {
  if (error instanceof Failure) return error;
  // Coded errors of the libraries; a system's error carries a code as well, in capitals.
  if (error instanceof Error && 'params' in error && 'code' in error) {
    return new Failure(String(error.code), error.message, EXIT.failed, error.params as Record<string, unknown>);
  }
  // What the system refuses about a file is no defect.
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof Error && typeof path === 'string' && typeof code === 'string') {
    return new Failure('file_failed', `cannot ${syscall ?? 'use'} ${path}: ${systemWords(code)}`, EXIT.failed, {
      path,
      error: code,
    });
  }
  return null;
}

/**
 * Ends the process at once, without running what is registered for its end: while a step of the native runtime is under way, an orderly
 * end aborts it and dies of a signal instead of giving the exit code; and while a call on a thread of the pool never returns (a driver that hangs),
 * an orderly end waits for it for ever.
 */
export async function endNow(code: number): Promise<never> {
  if (process.platform !== 'win32') {
    try {
      const { load } = await import('koffi');
      load(null).func('void _exit(int code)')(code);
    } catch {
      process.kill(process.pid, 'SIGKILL');
    }
  }
  return process.exit(code);
}

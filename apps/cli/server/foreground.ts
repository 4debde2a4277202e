import { spawn, type StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import { entryPath } from '@cdui/host/entry';
import { Failure } from '../failure';
import { findServer, type ServerAddress } from './server-files';
import { answering, serverEnvironment, type StartChoice } from './start-server';

/**
 * The same for programs: what the server says goes to standard error, and `answers` is called with its address when it does.
 * @throws Failure `already_running`, `start_failed` when it ended before it answered
 */
export async function runForProgram(choice: StartChoice, answers: (address: ServerAddress) => void): Promise<number> {
  const { folder } = choice;
  const running = await findServer(folder);
  if (running !== null) {
    const { pid, address } = running;
    const where = address === null ? '' : ` at ${address.url}`;
    throw new Failure(
      'already_running',
      `A server (process ${pid}) has ${folder}${where}: stop it with "cdui stop"`,
      1,
      {
        pid,
        url: address?.url ?? null,
      },
    );
  }
  let over = false;
  let answered = false;
  const ended = runInForeground(choice, {
    stdio: ['inherit', 2, 2],
    started: (pid) =>
      void answering(folder, pid, () => over).then((address) => {
        if (address === null || address === 'over') return;
        answered = true;
        answers(address);
      }),
  });
  const code = await ended.finally(() => (over = true));
  if (code !== 0 && !answered) {
    throw new Failure(
      'start_failed',
      `The server did not start: it ended with ${code}, and said why on standard error`,
    );
  }
  return code;
}

/** Runs a server in this terminal until it ends; returns its exit code. Signals reach it, and it decides what they mean. */
export function runInForeground(
  choice: StartChoice,
  { stdio = 'inherit', started }: { readonly stdio?: StdioOptions; readonly started?: (pid: number) => void } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    // A signal between the spawn and its listeners would end this process alone: the listeners come first.
    // A terminal's Ctrl+C goes to the whole group: the server has it already, and a second one could mean "at once".
    const onInterrupt = (): void => void (process.stdin.isTTY || child.kill('SIGINT'));
    const onTerminate = (): void => void child.kill('SIGTERM');
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate).on('SIGHUP', onTerminate);
    const child = spawn(process.execPath, [entryPath('apps/control-plane/main')], {
      stdio,
      env: serverEnvironment(choice),
    });
    if (child.pid !== undefined) started?.(child.pid);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate).off('SIGHUP', onTerminate);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

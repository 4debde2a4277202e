import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { entryPath } from '@cdui/host/entry';
import { serverEnvironment, type StartChoice } from './start-server';

/** Runs a server in this terminal until it ends; returns its exit code. Signals reach it, and it decides what they mean. */
export function runInForeground(choice: StartChoice): Promise<number> {
  return new Promise((resolve, reject) => {
    // A signal between the spawn and its listeners would end this process alone: the listeners come first.
    // A terminal's Ctrl+C goes to the whole group: the server has it already, and a second one could mean "at once".
    const onInterrupt = (): void => void (process.stdin.isTTY || child.kill('SIGINT'));
    const onTerminate = (): void => void child.kill('SIGTERM');
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate).on('SIGHUP', onTerminate);
    const child = spawn(process.execPath, [entryPath('apps/control-plane/main')], {
      stdio: 'inherit',
      env: serverEnvironment(choice),
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate).off('SIGHUP', onTerminate);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

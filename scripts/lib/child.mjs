import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';

/** Ends the script with a status of its own; the message, if any, is all that the user sees. */
export class Exit extends Error {
  constructor(code, message = '') {
    super(message);
    this.code = code;
  }
}

/**
 * Runs a program with this terminal and resolves to its exit status. An interrupt reaches the program and gives 130, other
 * signals 128 plus their number, as a shell would say.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { graceMs?: number }} [options] after a signal the program gets `graceMs` to
 *   end by itself; without it, it gets all the time it wants
 * @returns {Promise<number>}
 */
export function runChild(command, args, { graceMs, ...options } = {}) {
  return new Promise((resolve, reject) => {
    let interrupted = false;
    let killing;
    const startGrace = () => {
      if (graceMs !== undefined) {
        killing ??= setTimeout(() => child.kill('SIGKILL'), graceMs);
      }
    };
    const pass = (signal) => {
      child.kill(signal);
      startGrace();
    };
    const onInterrupt = () => {
      interrupted = true;
      // A terminal's Ctrl+C goes to the whole group: the program has it already, and a second one could mean "at once".
      if (!hasTerminal()) {
        child.kill('SIGINT');
      }
      startGrace();
    };
    const onTerminate = () => pass('SIGTERM');
    const onHangup = () => pass('SIGHUP');
    // Before the program starts: a signal in between would end this process alone and leave the program to itself.
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate).on('SIGHUP', onHangup);
    const done = () => {
      clearTimeout(killing);
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate).off('SIGHUP', onHangup);
    };
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    child.once('error', (error) => {
      done();
      reject(new Exit(1, `Cannot run ${command}: ${error.message}`));
    });
    child.once('close', (code, signal) => {
      done();
      resolve(interrupted ? 130 : (code ?? 128 + constants.signals[signal]));
    });
  });
}

/** Like runChild, but a status other than 0 ends the script with it. */
export async function mustRun(command, args, options = {}) {
  const code = await runChild(command, args, options);
  if (code !== 0) {
    throw new Exit(code, code === 130 ? '' : `${[command, ...args].join(' ')} ended with status ${code}`);
  }
}

function hasTerminal() {
  try {
    closeSync(openSync('/dev/tty'));
    return true;
  } catch {
    return false;
  }
}

import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { entryPath } from '@cdui/host/entry';
import { CodedError } from '@cdui/protocol';
import type { CatalogAnswer, CatalogQuestion } from '../catalog-helper/answer';
import { strays } from '../runner/strays';

/** A node file that never comes to an end must not keep the agent from its work. */
const DEADLINE_MS = 60_000;
const TAIL_CHARACTERS = 2_000;

/**
 * Lets a process of its own look at the node types: the agent loads no node code.
 *
 * @throws CodedError `catalog_failed` with what the process said
 */
export function readCatalog(customNodes: string, deadlineMs = DEADLINE_MS): Promise<CatalogAnswer> {
  const question: CatalogQuestion = { customNodes };
  const program = entryPath('apps/agent/catalog-helper/main');
  const child = spawn(process.execPath, [program, JSON.stringify(question)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  strays.spawned(child);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, deadlineMs);
  let said = '';
  let answer = '';
  child.stderr!.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-TAIL_CHARACTERS)));
  const pipe = child.stdio[3] as Readable;
  pipe.setEncoding('utf8').on('data', (text: string) => (answer += text));
  return new Promise((resolve, reject) => {
    const failed = (why: string): void =>
      reject(new CodedError('catalog_failed', `The node types could not be looked at: ${why}`));
    child.once('error', ({ message }) => {
      clearTimeout(timer);
      failed(message);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (late) return failed(`the node files did not come to an end within ${deadlineMs / 1000} s`);
      if (code !== 0) return failed(`it ended with ${signal ?? code}${said === '' ? '' : `: ${said.trim()}`}`);
      try {
        resolve(JSON.parse(answer) as CatalogAnswer);
      } catch {
        // A node file ended the process.
        failed(`it ended without an answer${said === '' ? '' : `: ${said.trim()}`}`);
      }
    });
  });
}

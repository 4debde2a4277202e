import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { CodedError } from '@cdui/protocol';

/** Runs give way to the agent: its heartbeats must not wait for what they compute. */
const DEFAULT_NICE = 5;

/**
 * `CODEFYUI_WORKER_NICE`: how far runs stand behind, from 0 to 19.
 *
 * @throws CodedError `invalid_setting`
 */
export function niceSetting(env: Readonly<Record<string, string | undefined>>): number {
  const text = env['CODEFYUI_WORKER_NICE']?.trim();
  if (!text) return DEFAULT_NICE;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 19) return value;
  const message = `CODEFYUI_WORKER_NICE must be a whole number from 0 to 19, got "${text}"`;
  throw new CodedError('invalid_setting', message, { setting: 'CODEFYUI_WORKER_NICE', value: text });
}

/** Lowers the priority of every thread that there is; those that come later inherit it. On Linux it belongs to threads, elsewhere to the process. */
export function beNice(value: number): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, value);
    } catch {
      // It ended meanwhile, or the priority was lower already and may not be raised.
    }
  }
}

function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}

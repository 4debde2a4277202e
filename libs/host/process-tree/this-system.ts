import { darwin, windows } from './elsewhere';
import { linux } from './linux';
import type { ProcessSystem } from './process-system';

/** The system that this program runs on. */
export function thisSystem(): ProcessSystem {
  return process.platform === 'linux' ? linux : process.platform === 'win32' ? windows : darwin;
}

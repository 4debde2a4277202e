import { describeNode } from '@cdui/node-sdk';
import type { PlannedNode } from '../plan-types';

/** A node's error in the words of a report. */
export interface Failure {
  readonly message: string;
  /** `out_of_memory`, the error's code, or its class. */
  readonly type: string;
  readonly trace: string | undefined;
}

export const OUT_OF_MEMORY = 'out_of_memory';

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: words(error), type: 'Error', trace: undefined };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const { message, stack } = error;
  const name = words(error.name);
  return { message: words(message) || name, type: code ?? name, trace: typeof stack === 'string' ? stack : undefined };
}

/** What nodes throw is theirs: even an error's message may be anything. */
function words(value: unknown): string {
  try {
    return String(value);
  } catch {
    // An object that cannot say what it is.
    return Object.prototype.toString.call(value);
  }
}

/** Whether the error says no more than that the run is being stopped. */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason) return true;
  return error instanceof Error && (error.name === 'AbortError' || failureOf(error).type === 'cancelled');
}

/** The run's error for a node's: names the node, unless the message does so already. */
export function runError(node: PlannedNode, failure: Failure): string {
  const { message } = failure;
  if (message.includes(`"${node.id}"`)) return message;
  // The layer of a layer node is called as the node's type is: once is enough.
  const own = `${node.type}: `;
  return `${describeNode(node)}: ${message.startsWith(own) ? message.slice(own.length) : message}`;
}

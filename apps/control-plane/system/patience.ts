import type { Response } from 'express';
import type { Boot } from './boot';

/**
 * How long a request may be kept waiting: until its client is gone or the server stops.
 * @returns a signal for the wait, and what to call when the wait is over
 */
export function patience(response: Response, boot: Boot): { readonly signal: AbortSignal; readonly over: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (boot.stopping || response.destroyed) abort();
  response.once('close', abort);
  boot.stopped.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    over: () => {
      response.off('close', abort);
      boot.stopped.removeEventListener('abort', abort);
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Unreachable } from './api';

/** What somebody who waits wants to know of a lost connection. */
export interface Connection {
  lost(reason: string): void;
  back(): void;
}

export interface Persistence {
  /** Looks again where the server is. */
  relocate(): unknown;
  readonly connection: Connection;
  readonly signal: AbortSignal;
  /** Gives up when there was no answer for so long. */
  readonly giveUpMs?: number;
  /** The first pause. */
  readonly pauseMs?: number;
}

const FIRST_MS = 100;
const MOST_MS = 3_000;
const GIVE_UP_MS = 10 * 60_000;

/**
 * Asks until there is an answer: a server that is started again is back within seconds, on another port perhaps. Refusals are answers.
 * Pauses double from 0.1 s to 3 s, each shortened by chance, so that many followers do not come back in the same instant.
 */
export async function persistently<T>(ask: () => Promise<T>, persistence: Persistence): Promise<T> {
  const { relocate, connection, signal, giveUpMs = GIVE_UP_MS, pauseMs = FIRST_MS } = persistence;
  const begun = performance.now();
  for (let pause = pauseMs, told = false; ; pause = Math.min(MOST_MS, pause * 2)) {
    try {
      const answer = await ask();
      if (told) connection.back();
      return answer;
    } catch (error) {
      if (!(error instanceof Unreachable) || performance.now() - begun > giveUpMs) throw error;
      if (!told) connection.lost(error.message);
      told = true;
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal });
      relocate();
    }
  }
}

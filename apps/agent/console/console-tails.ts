import { type FSWatcher, watch } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ConsoleFrame } from '@cdui/protocol';
import type { Consoles } from '../core/world';
import { wholeCharacters } from './utf8';

const PART_BYTES = 64 * 1024;

interface Tail {
  readonly runId: string;
  readonly attempt: number;
  readonly path: string;
  offset: number;
  watcher: FSWatcher | null;
  /** Set while parts are being read. */
  reading: Promise<void> | null;
  /** Whether more was printed since. */
  again: boolean;
  /** Nothing is printed any more: at the end of the file it is over. */
  over: boolean;
}

/**
 * Sends what runs print, from their output files: the file is its own spool, and the control plane says from where. Parts wait while the
 * connection is busy with what matters more.
 */
export class ConsoleTails implements Consoles {
  private readonly tails = new Map<string, Tail>();
  private send: ((frame: ConsoleFrame) => boolean) | null = null;
  private flowing = true;

  /** @param output the output file of a run */
  constructor(private readonly output: (runId: string) => string) {}

  follow(runId: string, attempt: number, offset: number): void {
    this.drop(runId);
    const path = this.output(runId);
    const tail = { runId, attempt, path, offset, watcher: null, reading: null, again: false, over: false };
    this.tails.set(runId, tail);
    this.read(tail);
  }

  connect(send: (frame: ConsoleFrame) => boolean): void {
    this.send = send;
    this.flowing = true;
  }

  look(): void {
    this.flowing = true;
    for (const tail of this.tails.values()) this.read(tail);
  }

  over(runId: string): Promise<void> | undefined {
    const tail = this.tails.get(runId);
    if (!tail || this.send === null) return undefined;
    tail.over = true;
    this.read(tail);
    return tail.reading ?? undefined;
  }

  disconnect(): void {
    this.send = null;
    for (const runId of [...this.tails.keys()]) this.drop(runId);
  }

  private drop(runId: string): void {
    this.tails.get(runId)?.watcher?.close();
    this.tails.delete(runId);
  }

  private read(tail: Tail): void {
    tail.again = true;
    tail.reading ??= this.readAll(tail).then(() => {
      tail.reading = null;
    });
  }

  private async readAll(tail: Tail): Promise<void> {
    while (tail.again && this.current(tail)) {
      tail.again = false;
      this.watch(tail);
      try {
        await this.sendParts(tail);
      } catch (error) {
        // It is not there yet; or it is gone, or not readable, which nothing here can change.
        if (tail.over || (error as NodeJS.ErrnoException).code !== 'ENOENT') this.drop(tail.runId);
      }
    }
  }

  private async sendParts(tail: Tail): Promise<void> {
    const file = await open(tail.path, 'r');
    try {
      const buffer = Buffer.allocUnsafe(PART_BYTES);
      while (this.current(tail) && this.flowing) {
        const { bytesRead } = await file.read(buffer, 0, PART_BYTES, tail.offset);
        if (!this.current(tail)) return;
        const read = buffer.subarray(0, bytesRead);
        // The rest of a character comes, unless nothing does.
        const bytes = wholeCharacters(read) || (tail.over ? bytesRead : 0);
        if (bytes > 0) this.say(tail, read.subarray(0, bytes));
        else if (!tail.over) return;
        else return this.drop(tail.runId);
      }
    } finally {
      await file.close();
    }
  }

  private say(tail: Tail, part: Buffer): void {
    const { runId, attempt, offset } = tail;
    tail.offset += part.length;
    const text = part.toString();
    this.flowing = this.send?.({ type: 'console', run_id: runId, attempt, offset, bytes: part.length, text }) === true;
  }

  private current(tail: Tail): boolean {
    return this.send !== null && this.tails.get(tail.runId) === tail;
  }

  /** A system that cannot watch it is not alone: heartbeats look as well. */
  private watch(tail: Tail): void {
    if (tail.watcher) return;
    try {
      tail.watcher = watch(tail.path, { persistent: false }, () => this.read(tail));
      tail.watcher.on('error', () => {
        tail.watcher?.close();
        tail.watcher = null;
      });
    } catch {
      tail.watcher = null;
    }
  }
}

import { RunQueue } from './run-queue';
import type { WaitingRun } from './requests';

/** A queue, and what is known about its front. */
export class WaitingQueue {
  readonly runs = new RunQueue<WaitingRun>();
  /** The front as others were told of it. */
  shown: WaitingRun | null = null;
  /** Of a queue for any machine: names of those that may have room, in order; the others have none until they are heard of again. */
  candidates: string[] = [];
  /** The `queueSeq` of the run for which candidates were last ruled out: no younger one would fare better. */
  askedFor = -Infinity;
  /** Whether it must be looked at. */
  isDue = false;

  get front(): WaitingRun | undefined {
    return this.runs.front;
  }

  get size(): number {
    return this.runs.size;
  }
}

interface Entry {
  readonly seq: number;
  readonly queue: WaitingQueue;
}

/** The queues that must be looked at, because something has changed that their front may have waited for; the oldest front first. */
export class DueQueues {
  /** A binary heap; what is in it may be out of date and is passed over then. */
  private readonly heap: Entry[] = [];

  add(queue: WaitingQueue): void {
    if (queue.isDue || queue.shown === null) return;
    queue.isDue = true;
    const { heap } = this;
    const entry = { seq: queue.shown.queueSeq, queue };
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      if (heap[parent]!.seq <= entry.seq) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = entry;
  }

  /** The front is another one. */
  again(queue: WaitingQueue): void {
    queue.isDue = false;
    this.add(queue);
  }

  take(): WaitingQueue | null {
    for (let entry = this.pop(); entry; entry = this.pop()) {
      const { queue, seq } = entry;
      if (!queue.isDue || queue.shown?.queueSeq !== seq) continue;
      queue.isDue = false;
      return queue;
    }
    return null;
  }

  private pop(): Entry | undefined {
    const { heap } = this;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.seq < heap[child]!.seq) child += 1;
      if (heap[child]!.seq >= last.seq) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return top;
  }
}

import { Writable } from 'node:stream';
import { PipeWriter } from './pipe-writer';

/** A pipe whose other end takes what it was given when it is told to. */
class HeldPipe extends Writable {
  readonly writes: string[] = [];
  private done: ((error?: Error) => void) | null = null;

  override _write(chunk: Buffer, _: string, done: (error?: Error) => void): void {
    this.writes.push(chunk.toString());
    this.done = done;
  }

  async take(error?: Error): Promise<void> {
    this.done?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const frame = (text: string): Uint8Array => Buffer.from(text);

describe('PipeWriter', () => {
  it('writes a lone frame at once, and gathers what comes while a write is under way', async () => {
    const pipe = new HeldPipe();
    const taken: number[] = [];
    const writer = new PipeWriter(pipe, (frames) => taken.push(frames));
    for (const text of ['a', 'b', 'c']) writer.push(frame(text), false);
    expect(pipe.writes).toEqual(['a']);
    await pipe.take();
    expect(pipe.writes).toEqual(['a', 'bc']);
    expect(taken).toEqual([1]);
    await pipe.take();
    expect(taken).toEqual([1, 2]);
  });

  it('gives everything that was gathered to the pipe when a frame must leave now', () => {
    const pipe = new HeldPipe();
    const writer = new PipeWriter(pipe, () => undefined);
    writer.push(frame('a'), false);
    writer.push(frame('b'), false);
    writer.push(frame('c'), true);
    expect(pipe.writableLength).toBe(3);
  });

  it('is drained when the last frame was taken in', async () => {
    const pipe = new HeldPipe();
    const writer = new PipeWriter(pipe, () => undefined);
    await writer.drained();
    writer.push(frame('a'), false);
    writer.push(frame('b'), false);
    let drained = false;
    void writer.drained().then(() => (drained = true));
    await pipe.take();
    expect(drained).toBe(false);
    await pipe.take();
    expect(drained).toBe(true);
  });

  it('lets a run go on whose agent is gone', async () => {
    const pipe = new HeldPipe();
    const taken: number[] = [];
    const writer = new PipeWriter(pipe, (frames) => taken.push(frames));
    writer.push(frame('a'), false);
    writer.push(frame('b'), false);
    await pipe.take(new Error('EPIPE'));
    writer.push(frame('c'), true);
    await writer.drained();
    expect(taken.reduce((sum, frames) => sum + frames, 0)).toBe(3);
  });
});

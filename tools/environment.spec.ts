import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { times } from '../testing/long';
import { loadLate } from './testing/lazy';

describe('the test environment', () => {
  it('shares typed arrays with threads', async () => {
    const worker = new Worker(`require('node:worker_threads').parentPort.postMessage(new Float32Array([1.5]))`, {
      eval: true,
    });
    const value = await new Promise((done) => worker.once('message', done));
    expect(value).toBeInstanceOf(Float32Array);
    expect(value).toEqual(Float32Array.of(1.5));
  });

  it('shares typed arrays with Node', () => {
    expect(Buffer.from('a')).toBeInstanceOf(Uint8Array);
    expect(new TextEncoder().encode('a').buffer).toBeInstanceOf(ArrayBuffer);
  });

  it('finds the source of a dynamic import', async () => {
    expect(await loadLate()).toEqual({ project: 'Project', root: resolve(__dirname, '..') });
  });

  it('repeats more often in the long run', () => {
    expect(times(3, 1000)).toBe(process.env['CDUI_TEST_LONG'] === '1' ? 1000 : 3);
  });
});

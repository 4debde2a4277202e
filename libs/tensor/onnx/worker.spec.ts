import { MessageChannel, Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { programRoot } from '@cdui/host/entry';
import { RuntimeError, type TensorRuntime } from '../runtime';
import { connectOnnxRuntime, OnnxRuntimeFactory, OnnxWorker, openOnnxRuntime } from '.';

async function doubled(runtime: TensorRuntime, value: number): Promise<number> {
  const scope = runtime.openScope({ label: 'double' });
  try {
    const x = scope.upload({ shape: [], dtype: 'float32', data: Float32Array.of(value) });
    return await scope.readScalar(scope.op('add', [x, x], {}));
  } finally {
    scope.close();
  }
}

/** Whatever a test leaves open would keep the process alive. */
const leftOpen: { close(): Promise<void> }[] = [];
function started<T extends { close(): Promise<void> }>(one: T): T {
  leftOpen.unshift(one);
  return one;
}

describe("the embedded runtime's thread", () => {
  afterEach(async () => {
    for (const one of leftOpen.splice(0)) await one.close();
  });

  it('computes off this thread, and says what it is', async () => {
    const runtime = started(await openOnnxRuntime({ device: 'cpu', threads: 1 }));
    expect(runtime.facts).toMatchObject({
      kind: 'onnx',
      device: 'cpu',
      threads: 1,
      version: expect.stringMatching(/^1\./),
    });
    expect(await doubled(runtime, 21)).toBe(42);
    await runtime.close();
    expect(await runtime.gone).toBeNull();
    expect(() => runtime.openScope({ label: 'late' })).toThrow(expect.objectContaining({ code: 'host_exited' }));
  });

  it('leaves the event loop free', async () => {
    const runtime = started(await openOnnxRuntime({ device: 'cpu', threads: 1 }));
    const scope = runtime.openScope({ label: 'long', seed: 1 });
    const matrix = scope.op('rand', [], { shape: [1500, 1500] });
    await scope.settle();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    scope.op('matmul', [scope.op('matmul', [matrix, matrix], {}), matrix], {});
    await scope.settle();
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    await runtime.close();
  });

  it('finishes what is queued before it closes', async () => {
    const runtime = started(await openOnnxRuntime({ device: 'cpu', threads: 1 }));
    const scope = runtime.openScope({ label: 'queued' });
    let x = scope.upload({ shape: [], dtype: 'float32', data: Float32Array.of(0) });
    const one = scope.op('full', [], { shape: [], value: 1, dtype: 'float32' });
    for (let i = 0; i < 500; i++) x = scope.op('add', [x, one], {});
    const value = scope.readScalar(x);
    await Promise.all([expect(value).resolves.toBe(500), runtime.close()]);
  });

  it('is not ended by force while it computes, and is when it does not', async () => {
    const worker = started(new OnnxWorker());
    const connection = worker.connect({ device: 'cpu', threads: 1 });
    const runtime = started(await connectOnnxRuntime(connection));
    const scope = runtime.openScope({ label: 'busy', seed: 1 });
    const matrix = scope.op('rand', [], { shape: [2000, 2000] });
    await scope.settle();
    scope.op('matmul', [matrix, matrix], {});
    const queued = scope.settle();
    const state = new Int32Array(connection.flag);
    while (Atomics.load(state, 0) === 0) await new Promise((resolve) => setImmediate(resolve));
    await expect(runtime.close({ force: true })).rejects.toMatchObject({ code: 'runtime_failed' });
    await queued;
    expect(await doubled(runtime, 1)).toBe(2);
    await runtime.close({ force: true });
    await worker.close();
  });

  it('serves other devices and shared runs not at all', async () => {
    await expect(openOnnxRuntime({ device: 'cuda:0' })).rejects.toMatchObject({ code: 'unsupported' });
    const rank = { index: 0, size: 2, rendezvous: '' };
    await expect(openOnnxRuntime({ device: 'cpu', rank })).rejects.toBeInstanceOf(RuntimeError);
    await expect(openOnnxRuntime({ device: 'cpu', memoryCapBytes: 2 ** 30 })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('leave memoryCapBytes out, or limit the process'),
    });
  });

  it('serves several clients through ports, each with handles of its own', async () => {
    const worker = started(new OnnxWorker());
    const [a, b] = await Promise.all(
      [1, 2].map(async (threads) => started(await connectOnnxRuntime(worker.connect({ device: 'cpu', threads })))),
    );
    expect([a!.facts.threads, b!.facts.threads]).toEqual([1, 2]);
    expect(await Promise.all([doubled(a!, 1), doubled(b!, 2)])).toEqual([2, 4]);
    await a!.close();
    expect(await doubled(b!, 3)).toBe(6);
    await b!.close({ force: true });
    await worker.close();
  });

  it('survives the end of a client thread in the middle of its step', async () => {
    const worker = started(new OnnxWorker());
    const connection = worker.connect({ device: 'cpu', threads: 1 });
    // The client lives in a sibling thread, which is terminated while the runtime works for it.
    const code = `
      const { workerData, parentPort } = require('node:worker_threads');
      const { connectOnnxRuntime } = require(workerData.module);
      connectOnnxRuntime(workerData.connection).then((runtime) => {
        const scope = runtime.openScope({ label: 'doomed', seed: 1 });
        let matrix = scope.op('rand', [], { shape: [1500, 1500] });
        for (let i = 0; i < 50; i++) matrix = scope.op('matmul', [matrix, matrix], {});
        scope.stats(matrix);
        const state = new Int32Array(workerData.connection.flag);
        const look = () => (Atomics.load(state, 0) === 1 ? parentPort.postMessage('working') : setImmediate(look));
        look();
      });`;
    const module = `${programRoot()}/dist/libs/tensor/onnx/index.js`;
    const client = new Worker(code, {
      eval: true,
      workerData: { module, connection },
      transferList: [connection.port],
    });
    await once(client, 'message');
    await client.terminate();
    const other = started(await connectOnnxRuntime(worker.connect({ device: 'cpu', threads: 1 })));
    expect(await doubled(other, 5)).toBe(10);
    await other.close();
    await worker.close();
  });

  it('ends with its clients, who learn of it', async () => {
    const worker = started(new OnnxWorker());
    const runtime = await connectOnnxRuntime(worker.connect({ device: 'cpu', threads: 1 }));
    expect(await doubled(runtime, 4)).toBe(8);
    await worker.close();
    expect(await runtime.gone).toMatchObject({ code: 'host_exited' });
  });

  it('takes no clients any more once it has ended', async () => {
    const worker = new OnnxWorker();
    await worker.close();
    expect(() => worker.connect({ device: 'cpu' })).toThrow(expect.objectContaining({ code: 'start_failed' }));
  });

  it('says that it could not start', async () => {
    const { port1, port2 } = new MessageChannel();
    port2.close();
    const connection = { port: port1, flag: new SharedArrayBuffer(4) };
    await expect(connectOnnxRuntime(connection)).rejects.toMatchObject({ code: 'start_failed' });
  });

  it('is closed by the factory that opened it', async () => {
    const factory = started(new OnnxRuntimeFactory());
    factory.prepare();
    const runtimes = [
      await factory.open({ device: 'cpu', threads: 1 }),
      await factory.open({ device: 'cpu', threads: 1 }),
    ];
    await factory.close();
    expect(await Promise.all(runtimes.map((runtime) => runtime.gone))).toEqual([null, null]);
  });
});

import { createClient } from '.';
import { ScriptedTransport, turn } from '../../testing/scripted-transport';
import type { RuntimeError } from '../errors';
import type { Scope, TensorRuntime } from '../runtime';

async function open(): Promise<{ transport: ScriptedTransport; runtime: TensorRuntime; scope: Scope }> {
  const transport = new ScriptedTransport();
  const runtime = await createClient(transport);
  return { transport, runtime, scope: runtime.openScope({ label: 'node', seed: 1 }) };
}

function ones(scope: Scope, count = 4) {
  return scope.upload({ shape: [count], dtype: 'float32', data: new Float32Array(count).fill(1) });
}

/** Settled state of a promise, without waiting for it. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = 'pending';
  promise.then(
    () => (state = 'resolved'),
    (error: RuntimeError) => (state = error.code ?? 'rejected'),
  );
  await turn();
  return state;
}

describe('frames', () => {
  it('carry what one microtask issued, numbered from the first command', async () => {
    const { transport, scope } = await open();
    const x = ones(scope);
    scope.op('exp', [x], {});
    expect(transport.frames).toHaveLength(0);
    await turn();
    expect(transport.frames.map((frame) => [frame.s, frame.b.map((command) => command[0])])).toEqual([
      [1, ['put', 'op']],
    ]);
    scope.op('exp', [x], {});
    await turn();
    expect(transport.frames[1]!.s).toBe(3);
  });

  it('carry at most 128 commands', async () => {
    const { transport, scope } = await open();
    const x = ones(scope);
    for (let i = 0; i < 299; i++) scope.op('exp', [x], {});
    await turn();
    expect(transport.frames.map((frame) => frame.b.length)).toEqual([128, 128, 44]);
    expect(transport.frames.map((frame) => frame.s)).toEqual([1, 129, 257]);
  });

  it('carry at most 16 blobs, each referred to by its place in its own frame', async () => {
    const { transport, scope } = await open();
    for (let i = 1; i <= 40; i++) ones(scope, i);
    await turn();
    expect(transport.frames.map((frame) => frame.blobs.length)).toEqual([16, 16, 8]);
    for (const frame of transport.frames) {
      frame.b.forEach((command) => {
        if (command[0] !== 'put') throw new Error('only uploads were issued');
        const blob = command[4]!;
        expect(frame.blobs[blob.blob]!.byteLength).toBe(blob.n);
        expect(blob.n).toBe(4 * command[2][0]!);
      });
    }
  });

  it('give a buffer away once, however often it is used', async () => {
    const { transport, scope } = await open();
    const data = Float32Array.of(1, 2);
    const value = { shape: [2], dtype: 'float32', data } as const;
    scope.upload(value);
    scope.upload(value);
    await turn();
    const [first, second] = transport.frames[0]!.blobs;
    expect(first!.buffer).not.toBe(second!.buffer);
    expect(second).toEqual(data);
  });

  it('name results before they are sent, without a round trip', async () => {
    const { transport, scope } = await open();
    let h = scope.op('reshape', [ones(scope, 6)], { shape: [2, -1] });
    for (let i = 0; i < 1000; i++) h = scope.op('add', [h, h], {});
    expect(h.shape).toEqual([2, 3]);
    await turn();
    expect(transport.of('op')).toHaveLength(1001);
    expect(transport.commands.some(({ command }) => ['sync', 'read'].includes(command[0]))).toBe(false);
  });
});

describe('ready', () => {
  it('waits from 4,096 unacknowledged commands on', async () => {
    const { transport, runtime, scope } = await open();
    const x = ones(scope);
    for (let i = 0; i < 4094; i++) scope.op('exp', [x], {});
    expect(await stateOf(runtime.ready())).toBe('resolved');
    scope.op('exp', [x], {});
    const ready = runtime.ready();
    expect(await stateOf(ready)).toBe('pending');
    transport.acknowledge(1);
    expect(await stateOf(ready)).toBe('resolved');
  });

  it('waits from 64 MiB of unacknowledged blobs on', async () => {
    const { transport, runtime, scope } = await open();
    scope.upload({ shape: [40 << 20], dtype: 'uint8', data: new Uint8Array(40 << 20) });
    expect(await stateOf(runtime.ready())).toBe('resolved');
    scope.upload({ shape: [24 << 20], dtype: 'uint8', data: new Uint8Array(24 << 20) });
    const ready = runtime.ready();
    expect(await stateOf(ready)).toBe('pending');
    transport.acknowledge(1);
    expect(await stateOf(ready)).toBe('resolved');
  });
});

describe('errors follow the data', () => {
  const failure = { code: 'runtime_failed', message: 'index 99 is out of bounds', op: 'indexSelect' };

  it('reads of dependents reject with the first cause, its op and its label; others go on', async () => {
    const { transport, scope } = await open();
    const x = ones(scope);
    const bad = scope.op('exp', [x], {});
    const dependent = scope.op('log', [bad], {});
    const other = scope.op('neg', [x], {});
    const reads = [scope.read(dependent), scope.read(other)];
    await turn();
    const [, op1, op2, op3, read1, read2] = transport.commands.map(({ seq }) => seq);
    transport.answer({
      a: read2!,
      e: [[op1!, failure]],
      x: [
        [op2!, op1!],
        [read1!, op1!],
      ],
      r: [[read2!, { shape: [4], dtype: 'float32', data: new Float32Array(4) }]],
    });
    await expect(reads[0]).rejects.toMatchObject({ code: 'runtime_failed', op: 'indexSelect', label: 'node' });
    await expect(reads[1]).resolves.toMatchObject({ shape: [4] });
    expect(op3).toBeDefined();
    // Somebody has seen it, so settle has nothing left to report.
    await expect(scope.settle()).resolves.toBeUndefined();
    // A later use throws at once, with the same error.
    expect(() => scope.op('exp', [dependent], {})).toThrow(expect.objectContaining({ op: 'indexSelect' }));
    expect(() => scope.op('exp', [other], {})).not.toThrow();
  });

  it('a failure nobody read surfaces once, at the settle of the scope that issued it', async () => {
    const { transport, runtime, scope } = await open();
    const innocent = runtime.openScope({ label: 'innocent' });
    const y = ones(innocent);
    scope.op('exp', [ones(scope)], {});
    await turn();
    const bad = transport.of('op')[0]!.seq;
    const settling = scope.settle();
    const other = innocent.settle();
    await turn();
    transport.fail(bad, failure);
    for (const { seq } of transport.of('sync')) transport.reply(seq, null);
    await expect(settling).rejects.toMatchObject({ label: 'node', message: expect.stringContaining('index 99') });
    await expect(other).resolves.toBeUndefined();
    transport.acknowledge();
    await expect(scope.settle()).resolves.toBeUndefined();
    expect(y.freed).toBe(false);
  });

  it('a scope whose commands were spoilt by another scope reports it too', async () => {
    const { transport, runtime, scope } = await open();
    const next = runtime.openScope({ label: 'next' });
    const bad = scope.keep(scope.op('exp', [ones(scope)], {}));
    next.op('exp', [bad], {});
    await turn();
    const [first, second] = transport.of('op').map(({ seq }) => seq);
    transport.answer({ a: second!, e: [[first!, failure]], x: [[second!, first!]] });
    await expect(scope.settle()).rejects.toMatchObject({ label: 'node' });
    await expect(next.settle()).rejects.toMatchObject({ label: 'node', op: 'indexSelect' });
  });

  it('settle needs no round trip when everything is acknowledged', async () => {
    const { transport, scope } = await open();
    ones(scope);
    await turn();
    transport.acknowledge();
    await scope.settle();
    expect(transport.of('sync')).toHaveLength(0);
  });

  it('a freed handle forgets its failure', async () => {
    const { transport, scope } = await open();
    const bad = scope.op('exp', [ones(scope)], {});
    await turn();
    const { seq } = transport.of('op')[0]!;
    bad.release();
    await turn();
    transport.answer({ a: transport.lastSeq, e: [[seq, failure]] });
    expect(() => scope.op('exp', [bad], {})).toThrow(expect.objectContaining({ code: 'handle_freed' }));
  });
});

describe('the far side', () => {
  it("'s death rejects everything that waits, names the oldest command, and poisons the client", async () => {
    const { transport, runtime, scope } = await open();
    const x = ones(scope);
    await turn();
    transport.acknowledge();
    const reads = [scope.read(x), scope.settle(), runtime.memory()];
    await turn();
    transport.onDown({ code: 'host_exited', message: 'the host exited', signal: 'SIGKILL', output: 'last words' });
    for (const promise of reads) {
      await expect(promise).rejects.toMatchObject({
        code: 'host_exited',
        signal: 'SIGKILL',
        op: 'read',
        label: 'node',
        output: 'last words',
      });
    }
    expect(() => scope.op('exp', [x], {})).toThrow(expect.objectContaining({ code: 'host_exited' }));
    await expect(runtime.ready()).rejects.toMatchObject({ code: 'host_exited' });
    expect(() => scope.close()).not.toThrow();
    await expect(runtime.gone).resolves.toMatchObject({ code: 'host_exited' });
  });

  it('ends in order when it is closed: gone is null, later calls say why', async () => {
    const { transport, runtime, scope } = await open();
    ones(scope);
    await runtime.close();
    expect(transport.of('put')).toHaveLength(1);
    expect(transport.closedWith).toEqual({ force: false });
    await expect(runtime.gone).resolves.toBeNull();
    await expect(runtime.memory()).rejects.toMatchObject({
      code: 'host_exited',
      message: expect.stringContaining('closed'),
    });
  });

  it('that does not start is start_failed', async () => {
    const transport = new ScriptedTransport();
    Object.assign(transport, { hello: new Promise(() => undefined) });
    const opening = createClient(transport);
    transport.onDown({ code: 'start_failed', message: 'no such file', output: 'trace' });
    await expect(opening).rejects.toMatchObject({ code: 'start_failed', output: 'trace' });
  });

  it('that dies before its greeting is start_failed too', async () => {
    const transport = new ScriptedTransport();
    Object.assign(transport, { hello: new Promise(() => undefined) });
    const opening = createClient(transport);
    transport.onDown({ code: 'host_exited', message: 'the thread ended', exitCode: 3 });
    await expect(opening).rejects.toMatchObject({ code: 'start_failed', message: 'the thread ended', exitCode: 3 });
  });

  it('that cannot be sent to ends the client with the reason instead of an uncaught exception', async () => {
    const { transport, runtime, scope } = await open();
    transport.send = () => {
      throw new Error('could not be cloned');
    };
    const read = scope.read(ones(scope));
    await expect(read).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('could not be cloned'),
    });
    await expect(runtime.gone).resolves.toMatchObject({ code: 'protocol' });
  });

  it('of another protocol is refused', async () => {
    const transport = new ScriptedTransport({ protocol: 2 as 1 });
    await expect(createClient(transport)).rejects.toMatchObject({ code: 'protocol' });
    expect(transport.closedWith).toEqual({ force: true });
  });
});

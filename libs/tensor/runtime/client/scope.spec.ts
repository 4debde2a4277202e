import { createClient } from '.';
import { ScriptedTransport, turn } from '../../testing/scripted-transport';
import type { Scope, TensorRuntime } from '../runtime';
import { singleLayer } from '../specs';

async function open(options: Partial<Parameters<TensorRuntime['openScope']>[0]> = {}) {
  const transport = new ScriptedTransport();
  const runtime = await createClient(transport, { randomSeed: () => 99 });
  return { transport, runtime, scope: runtime.openScope({ label: 'node', seed: 7, ...options }) };
}

function upload(scope: Scope, shape: readonly number[] = [2, 3]) {
  const count = shape.reduce((a, b) => a * b, 1);
  return scope.upload({ shape, dtype: 'float32', data: new Float32Array(count) });
}

describe('handles', () => {
  it('a closing scope frees what it owns in one command, after the commands that use it', async () => {
    const { transport, scope } = await open();
    const a = upload(scope);
    const b = scope.op('exp', [a], {});
    scope.close();
    await turn();
    expect(transport.commands.map(({ command }) => command[0])).toEqual(['put', 'op', 'free']);
    expect(transport.of('free')[0]!.command[1]).toEqual([a.id, b.id]);
    expect(a.freed && b.freed).toBe(true);
    scope.close();
    await turn();
    expect(transport.of('free')).toHaveLength(1);
  });

  it('a kept handle survives its scope and is freed by its last release', async () => {
    const { transport, scope } = await open();
    const a = scope.keep(upload(scope));
    scope.close();
    expect(a.freed).toBe(false);
    a.retain();
    a.release();
    expect(a.freed).toBe(false);
    a.release();
    expect(a.freed).toBe(true);
    await turn();
    expect(transport.of('free').map(({ command }) => command[1])).toEqual([[a.id]]);
  });

  it('keeping what another node made adds a reference (pass-through)', async () => {
    const { runtime, scope } = await open();
    const a = scope.keep(upload(scope));
    const through = runtime.openScope({ label: 'through' });
    expect(through.keep(a)).toBe(a);
    through.close();
    a.release();
    expect(a.freed).toBe(false);
    a.release();
    expect(a.freed).toBe(true);
  });

  it('keep can hand a handle to another scope', async () => {
    const { runtime, scope } = await open();
    const store = runtime.openScope({ label: 'store' });
    const a = scope.keep(upload(scope), store);
    scope.close();
    expect(a.freed).toBe(false);
    store.close();
    expect(a.freed).toBe(true);
  });

  it('a freed handle throws at once, wherever it is used', async () => {
    const { scope } = await open();
    const a = upload(scope);
    a.release();
    const freed = expect.objectContaining({ code: 'handle_freed' });
    expect(() => scope.op('exp', [a], {})).toThrow(freed);
    expect(() => a.retain()).toThrow(freed);
    expect(() => a.release()).toThrow(freed);
    expect(() => scope.keep(a)).toThrow(freed);
    await expect(scope.read(a)).rejects.toMatchObject({ code: 'handle_freed', op: 'read' });
    expect(() => scope.close()).not.toThrow();
  });

  it('a closed scope makes nothing more', async () => {
    const { scope } = await open();
    const a = scope.keep(upload(scope));
    scope.close();
    expect(() => scope.op('exp', [a], {})).toThrow(/scope 'node' was closed/);
  });

  it('a handle of another runtime is refused', async () => {
    const [one, two] = [await open(), await open()];
    const a = upload(one.scope);
    expect(() => two.scope.op('exp', [a], {})).toThrow(/another runtime/);
  });

  it('a release keeps its place before the commands issued after it', async () => {
    const { transport, runtime, scope } = await open();
    upload(scope);
    scope.close();
    const memory = runtime.memory();
    await turn();
    expect(transport.commands.map(({ command }) => command[0])).toEqual(['put', 'free', 'memory']);
    transport.reply(3, { liveHandles: 0 });
    await expect(memory).resolves.toEqual({ liveHandles: 0 });
  });
});

describe('uploads', () => {
  it('of a whole buffer hand it over, of a view a copy', async () => {
    const { transport, scope } = await open();
    const whole = new Float32Array(6);
    const large = new Float32Array(100).fill(3);
    scope.upload({ shape: [6], dtype: 'float32', data: whole });
    scope.upload({ shape: [6], dtype: 'float32', data: large.subarray(10, 16) });
    await turn();
    const [first, second] = transport.frames[0]!.blobs;
    expect(first).toBe(whole);
    expect(second!.buffer.byteLength).toBe(24);
    expect(Array.from(second as Float32Array)).toEqual([3, 3, 3, 3, 3, 3]);
  });

  it('check dtype, length and device', async () => {
    const { scope } = await open();
    const data = new Float32Array(6);
    expect(() => scope.upload({ shape: [5], dtype: 'float32', data })).toThrow(/5 elements, but the data has 6/);
    expect(() => scope.upload({ shape: [6], dtype: 'int64', data })).toThrow(
      /must be a BigInt64Array, got Float32Array/,
    );
    expect(() => scope.upload({ shape: [6], dtype: 'float32', data }, { device: 'cuda:0' })).toThrow(/device cuda:0/);
  });
});

describe('shape errors', () => {
  it('are thrown in the node that made them, with op and label, and send nothing', async () => {
    const { transport, scope } = await open();
    const [a, b] = [upload(scope, [2, 3]), upload(scope, [2, 3])];
    expect(() => scope.op('matmul', [a, b], {})).toThrow(
      expect.objectContaining({
        code: 'shape_mismatch',
        op: 'matmul',
        label: 'node',
        message: expect.stringContaining('mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)'),
      }),
    );
    await turn();
    expect(transport.of('op')).toHaveLength(0);
  });

  it('several outputs need opMany', async () => {
    const { scope } = await open();
    const a = upload(scope, [5, 3]);
    expect(() => scope.op('chunk', [a], { dim: 0, chunks: 2 })).toThrow(/use opMany/);
    expect(scope.opMany('chunk', [a], { dim: 0, chunks: 2 }).map((part) => part.shape)).toEqual([
      [3, 3],
      [2, 3],
    ]);
  });
});

describe('randomness', () => {
  it("draws from the scope's generator, made once from its seed; a given generator goes first", async () => {
    const { transport, scope } = await open();
    const mine = scope.generator(5);
    scope.op('randn', [], { shape: [2] });
    scope.op('rand', [], { shape: [2] });
    scope.op('rand', [], { shape: [2] }, { generator: mine });
    scope.op('exp', [upload(scope)], {});
    await turn();
    const seeds = new Map(transport.of('gen').map(({ command }) => [command[1], command[2]]));
    expect([...seeds.values()]).toEqual([5, 7]);
    const drawn = transport.of('op').map(({ command }) => command[5].gen);
    expect(drawn.map((id) => (id === undefined ? null : seeds.get(id)))).toEqual([7, 7, 5, null]);
  });

  it('a scope without a seed takes a random one', async () => {
    const { transport, runtime } = await open();
    runtime.openScope({ label: 'unseeded' }).op('rand', [], { shape: [1] });
    await turn();
    expect(transport.of('gen')[0]!.command[2]).toBe(99);
  });
});

describe('optimisers', () => {
  const adam = { type: 'Adam', lr: 0.1 } as const;

  async function modules() {
    const opened = await open();
    const linear = (inFeatures: number) =>
      opened.scope.module(singleLayer('Linear', { in_features: inFeatures, out_features: 2 }));
    return { ...opened, a: linear(3), b: linear(3), c: linear(4) };
  }

  it('are reused for their own module: the same handle, one reference more', async () => {
    const { transport, scope, runtime, a } = await modules();
    const optimizer = scope.optimizer(a, adam);
    const node = runtime.openScope({ label: 'loop' });
    const bound = node.bindOptimizer(optimizer, a);
    expect(bound).toEqual({ optimizer, how: 'reused' });
    node.close();
    expect(optimizer.freed).toBe(false);
    await turn();
    expect(transport.of('bind')).toHaveLength(0);
  });

  it('are rebound to equal shapes and rebuilt for others', async () => {
    const { transport, scope, a, b, c } = await modules();
    const optimizer = scope.optimizer(a, adam);
    const moved = scope.bindOptimizer(optimizer, b);
    const fresh = scope.bindOptimizer(optimizer, c);
    expect([moved.how, fresh.how]).toEqual(['rebound', 'rebuilt']);
    expect(moved.optimizer.module).toBe(b);
    await turn();
    expect(transport.of('bind').map(({ command }) => command.slice(2))).toEqual([
      [optimizer.id, b.id, 'rebound'],
      [optimizer.id, c.id, 'rebuilt'],
    ]);
  });

  it('know the entries of their snapshot', async () => {
    const { scope, a } = await modules();
    const state = scope.snapshot(scope.optimizer(a, adam));
    expect(state.entries.map(({ name }) => name)).toEqual([
      'step',
      'exp_avg.layer.weight',
      'exp_avg.layer.bias',
      'exp_avg_sq.layer.weight',
      'exp_avg_sq.layer.bias',
    ]);
  });
});

describe('backward', () => {
  it('needs a scope that records gradients', async () => {
    const { scope } = await open();
    const x = upload(scope);
    await expect(scope.backward(x, { tensors: [], modules: [] })).rejects.toThrow(/recordGradients/);
  });

  it('gives null where the runtime says that nothing depends on the item, and frees its id', async () => {
    const { transport, scope } = await open({ recordGradients: true });
    const [x, y] = [upload(scope), upload(scope)];
    const module = scope.module(singleLayer('Linear', { in_features: 3, out_features: 2 }));
    const done = scope.backward(scope.op('exp', [x], {}), { tensors: [x, y], modules: [module] });
    await turn();
    expect(transport.of('op')[0]!.command[5]).toEqual({ grad: true });
    const { seq, command } = transport.of('backward')[0]!;
    transport.reply(seq, { tensors: [true, false], parameters: [{ 'layer.weight': true, 'layer.bias': false }] });
    const { tensors, parameters } = await done;
    expect(tensors[0]!.shape).toEqual([2, 3]);
    expect(tensors[1]).toBeNull();
    expect(parameters[0]!['layer.weight']!.shape).toEqual([2, 3]);
    expect(parameters[0]!['layer.bias']).toBeNull();
    await turn();
    expect(transport.of('free')[0]!.command[1]).toEqual([command[4][1], command[5][0]!['layer.bias']]);
  });
});

describe('files', () => {
  it('states that arrive after their scope closed are adopted and freed, not forgotten', async () => {
    const { transport, scope } = await open();
    const loading = scope.loadState('/tmp/file');
    await turn();
    scope.close();
    transport.reply(transport.of('load')[0]!.seq, { states: { model: [] }, metadata: {} });
    await expect(loading).rejects.toMatchObject({ code: 'handle_freed' });
    await turn();
    const adopted = transport.of('adopt')[0]!.command;
    expect(adopted.slice(2)).toEqual(['/tmp/file', 'model']);
    expect(transport.of('free').at(-1)!.command[1]).toEqual([adopted[1]]);
  });
});

describe('what this runtime cannot do', () => {
  it('is refused by name before anything is sent', async () => {
    const { scope } = await open();
    const module = scope.module(singleLayer('Linear', { in_features: 3, out_features: 2 }));
    const x = upload(scope);
    const unsupported = expect.objectContaining({ code: 'unsupported', label: 'node' });
    expect(() => scope.forward(module, { x }, { mode: 'eval', precision: 'bf16' })).toThrow(unsupported);
    const spec = {
      module,
      optimizer: scope.optimizer(module, { type: 'SGD', lr: 0.1 }),
      loss: { type: 'MSE' },
      feed: { inputs: { x: 'x' }, target: 't' },
      precision: 'fp32',
    } as const;
    expect(() => scope.trainer({ ...spec, precision: 'fp16' })).toThrow(unsupported);
    expect(() => scope.trainer({ ...spec, dataParallel: true })).toThrow(unsupported);
    expect(() => scope.optimizer(module, { type: 'RAdam', lr: 0.1 })).toThrow(unsupported);
    expect(() => scope.module(singleLayer('Linear', {}))).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

describe('cancellation', () => {
  it('stops computing but not reading, snapshots and files', async () => {
    const abort = new AbortController();
    const { transport, scope } = await open({ signal: abort.signal });
    const x = upload(scope, [1]);
    const module = scope.module(singleLayer('Linear', { in_features: 1, out_features: 2 }));
    abort.abort();
    const cancelled = expect.objectContaining({ code: 'cancelled', label: 'node' });
    expect(() => scope.op('exp', [x], {})).toThrow(cancelled);
    expect(() => scope.forward(module, { x }, { mode: 'eval' })).toThrow(cancelled);
    const saved = scope.saveState('/tmp/file', { model: scope.snapshot(module) }, {});
    await turn();
    transport.reply(transport.of('save')[0]!.seq, { bytes: 8, sha256: 'aa' });
    await expect(saved).resolves.toEqual({ bytes: 8, sha256: 'aa' });
  });
});

import { createClient } from '.';
import { ScriptedTransport, turn } from '../../testing/scripted-transport';
import { singleLayer } from '../specs';
import type { StepColumns, TrainerSpec } from '../training';

async function open(extra: Partial<TrainerSpec> = {}) {
  const clock = { now: 0 };
  const transport = new ScriptedTransport();
  const runtime = await createClient(transport, { now: () => clock.now });
  const scope = runtime.openScope({ label: 'loop', seed: 1 });
  const module = scope.module(singleLayer('Linear', { in_features: 3, out_features: 2 }));
  const optimizer = scope.optimizer(module, { type: 'SGD', lr: 0.1 });
  const x = scope.upload({ shape: [8, 3], dtype: 'float32', data: new Float32Array(24) });
  const y = scope.upload({ shape: [8], dtype: 'int64', data: new BigInt64Array(8) });
  const trainer = scope.trainer({
    module,
    optimizer,
    loss: { type: 'CrossEntropy' },
    feed: { inputs: { x: 'x' }, target: 'y' },
    precision: 'fp32',
    ...extra,
  });
  const batch = { rows: Int32Array.of(0, 1), from: { x, y } };
  await turn();
  transport.acknowledge();
  return { clock, transport, runtime, scope, module, optimizer, x, y, trainer, batch };
}

function columns(from: number, losses: readonly number[]): StepColumns {
  return {
    index: Int32Array.from(losses, (_, at) => from + at),
    loss: Float32Array.from(losses),
    lr: new Float32Array(losses.length).fill(0.1),
    skipped: new Uint8Array(losses.length),
    seconds: 0.5,
  };
}

/** How many of `count` steps issued at once are accepted. */
async function accepted(opened: Awaited<ReturnType<typeof open>>, count: number): Promise<number> {
  let done = 0;
  for (let i = 0; i < count; i++) void opened.trainer.step(opened.batch).then(() => done++);
  for (let i = 0; i < count; i++) await turn();
  return done;
}

describe('the window', () => {
  it('starts at two steps and lets one in for one acknowledged', async () => {
    const opened = await open();
    expect(await accepted(opened, 3)).toBe(2);
    expect(opened.transport.of('step')).toHaveLength(2);
    opened.clock.now = 60;
    opened.transport.acknowledge(opened.transport.of('step')[0]!.seq);
    await turn();
    expect(opened.transport.of('step')).toHaveLength(3);
  });

  /** Runs steps of `ms` milliseconds each until the window is steady, then counts how many more are let in. */
  async function steady(ms: number): Promise<number> {
    const opened = await open();
    for (let i = 0; i < 40; i++) {
      await opened.trainer.step(opened.batch);
      await turn();
      opened.clock.now += ms;
      opened.transport.acknowledge();
    }
    return accepted(opened, 40);
  }

  it('grows to what fits 50 ms, at most 32, at least 2', async () => {
    expect(await steady(10)).toBe(5);
    expect(await steady(0.1)).toBe(32);
    expect(await steady(200)).toBe(2);
  });

  it('can be fixed', async () => {
    expect(await accepted(await open({ window: 1 }), 4)).toBe(1);
    expect(await accepted(await open({ window: 7 }), 9)).toBe(7);
    await expect(open({ window: 0 })).rejects.toThrow(/window/);
  });
});

describe('step', () => {
  it('sends rows as a copy, with apply and scale', async () => {
    const { transport, trainer, batch, x, y } = await open();
    await trainer.step(batch, { apply: false, scale: 0.5 });
    batch.rows.fill(7);
    await turn();
    const { command } = transport.of('step')[0]!;
    expect(command.slice(2)).toEqual([{ x: x.id, y: y.id }, { blob: 0, n: 8 }, false, 0.5]);
    expect(Array.from(transport.frames.at(-1)!.blobs[0] as Int32Array)).toEqual([0, 1]);
  });

  it('sends only the fields that the feed uses', async () => {
    const { transport, trainer } = await open();
    const host = {
      x: { shape: [1, 3], dtype: 'float32', data: new Float32Array(3) },
      y: { shape: [1], dtype: 'int64', data: new BigInt64Array(1) },
      weight: { shape: [1], dtype: 'float32', data: new Float32Array(1) },
    } as const;
    await trainer.step({ host });
    await turn();
    expect(Object.keys(transport.of('stepHost')[0]!.command[2])).toEqual(['x', 'y']);
    expect(host.x.data.length).toBe(3);
  });

  it('rejects batches that do not fit, before anything is sent', async () => {
    const { transport, trainer, batch, x, y } = await open();
    await expect(trainer.step({ rows: batch.rows, from: { x } })).rejects.toThrow(/batch field 'y'/);
    await expect(trainer.step({ rows: Int32Array.of(8), from: { x, y } })).rejects.toThrow(/row 8 is out of range/);
    await expect(trainer.step({ rows: batch.rows, from: { x: y, y } })).rejects.toThrow(/Linear/);
    expect(transport.of('step')).toHaveLength(0);
  });

  it('rejects with the error of an earlier step, and so does collect', async () => {
    const { transport, trainer, batch } = await open();
    await trainer.step(batch);
    await turn();
    transport.fail(transport.of('step')[0]!.seq, { code: 'out_of_memory', message: 'too large', op: 'step' });
    await expect(trainer.step(batch)).rejects.toMatchObject({ code: 'out_of_memory', label: 'loop' });
    await expect(trainer.collect()).rejects.toMatchObject({ code: 'out_of_memory' });
  });

  it('waiting for room rejects with cancelled when the signal aborts', async () => {
    const abort = new AbortController();
    const { transport, trainer, batch } = await open({ signal: abort.signal });
    await trainer.step(batch);
    await trainer.step(batch);
    const third = trainer.step(batch);
    await turn();
    abort.abort();
    await expect(third).rejects.toMatchObject({ code: 'cancelled' });
    await expect(trainer.step(batch)).rejects.toMatchObject({ code: 'cancelled' });
    expect(transport.of('step')).toHaveLength(2);
  });

  it('of a loss that is not one number is refused', async () => {
    const { trainer, batch } = await open({ loss: { type: 'CrossEntropy', reduction: 'none' } });
    await expect(trainer.step(batch)).rejects.toThrow(/loss of one number/);
  });
});

describe('results', () => {
  it('tickets share one read and do not take rows from collect', async () => {
    const { transport, trainer, batch } = await open();
    const tickets = [await trainer.step(batch), await trainer.step(batch)];
    expect(tickets.map(({ index }) => index)).toEqual([0, 1]);
    const losses = Promise.all(tickets.map((ticket) => ticket.loss()));
    await turn();
    expect(transport.of('collect')).toHaveLength(1);
    transport.acknowledge();
    transport.reply(transport.of('collect')[0]!.seq, columns(0, [2, 1]));
    expect(await losses).toEqual([2, 1]);
    expect(await tickets[0]!.loss()).toBe(2);

    await trainer.step(batch);
    const collected = trainer.collect();
    await turn();
    expect(transport.of('collect')).toHaveLength(2);
    transport.reply(transport.of('collect')[1]!.seq, columns(2, [0.5]));
    const { index, loss, seconds } = await collected;
    expect([Array.from(index), Array.from(loss), seconds]).toEqual([[0, 1, 2], [2, 1, 0.5], 1]);
  });

  it('hyper values, discards and steps keep their order', async () => {
    const { transport, trainer, batch } = await open();
    trainer.setHyper({ lr: 0.5 });
    await trainer.step(batch);
    trainer.discard();
    trainer.setHyper({ lr: 0.25 });
    await turn();
    expect(transport.commands.slice(-4).map(({ command }) => command[0])).toEqual([
      'hyper',
      'step',
      'discard',
      'hyper',
    ]);
  });

  it('a closed trainer is freed and refuses more', async () => {
    const { transport, scope, trainer, batch } = await open();
    trainer.close();
    trainer.close();
    await turn();
    expect(transport.of('free')[0]!.command[1]).toEqual([transport.of('trainer')[0]!.command[1]]);
    await expect(trainer.step(batch)).rejects.toMatchObject({ code: 'handle_freed' });
    expect(() => scope.close()).not.toThrow();
  });
});

describe('evaluators', () => {
  it('run in eval mode behind the same window', async () => {
    const { transport, scope, module, x, y } = await open();
    const evaluator = scope.evaluator({
      module,
      feed: { inputs: { x: 'x' }, target: 'y' },
      precision: 'fp32',
      loss: { type: 'CrossEntropy' },
      accuracy: true,
    });
    let done = 0;
    for (let i = 0; i < 3; i++) void evaluator.step({ rows: Int32Array.of(i), from: { x, y } }).then(() => done++);
    await turn();
    expect(done).toBe(2);
    transport.acknowledge();
    await turn();
    expect(done).toBe(3);
    const collected = evaluator.collect();
    await turn();
    const { seq } = transport.of('collectEval')[0]!;
    transport.reply(seq, { losses: Float32Array.of(1, 2, 3), correct: 2, count: 3 });
    await expect(collected).resolves.toMatchObject({ correct: 2, count: 3 });
  });
});

describe('refusals', () => {
  it('an optimiser of another module, unknown ports, later losses', async () => {
    const { scope, module, optimizer } = await open();
    const other = scope.module(module.spec);
    const spec = {
      module: other,
      optimizer,
      loss: { type: 'MSE' },
      feed: { inputs: { x: 'x' }, target: 'y' },
      precision: 'fp32',
    } as const;
    expect(() => scope.trainer(spec)).toThrow(/bindOptimizer/);
    expect(() => scope.trainer({ ...spec, module, feed: { inputs: { z: 'x' } } })).toThrow(/missing: x; unknown: z/);
    expect(() => scope.trainer({ ...spec, module, loss: { type: 'Huber' } })).toThrow(
      expect.objectContaining({ code: 'unsupported', label: 'loop' }),
    );
  });
});

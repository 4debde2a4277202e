import { times } from '../../testing/long';
import { GRAPH } from '../control-plane/runs/testing/simulation';
import { Stage } from './stage';
import { Chance, settled } from './time';

const MOMENTS = times(1_000, 20_000);

function drain(stage: Stage, drained: boolean): void {
  const { registry } = stage.server;
  registry.drain(registry.get('one')!, drained);
}

const assignments = (stage: Stage): readonly number[] =>
  stage.sent.flatMap((frame) => (frame.type === 'assign' ? [frame.attempt] : []));

describe('a worker that is drained', () => {
  it('while a run’s place there is being stored gets no assignment, and the run its place back as soon as it is undrained', async () => {
    const stage = await Stage.open(['cuda:0']);
    drain(stage, true);
    const id = await stage.submit({ device: 'cuda' });
    const behind = await stage.submit({ device: 'cuda' });
    stage.database.hold();
    drain(stage, false);
    await stage.settle();
    drain(stage, true);
    stage.database.release();
    await stage.settle();
    expect(stage.row(id)).toMatchObject({ status: 'queued', workerId: null });
    expect(stage.server.service.usage({ worker: 'one', device: 'cuda:0' }).used).toBe(0);
    expect(assignments(stage)).toEqual([]);
    drain(stage, false);
    await stage.settle();
    // No time had to pass.
    expect(stage.row(id).status).toBe('running');
    expect(stage.row(behind).status).toBe('queued');
    expect(assignments(stage)).toEqual([2]);
    expect(stage.agent.living).toHaveLength(1);
  });

  it('and undrained before the run’s place there is stored gets the run as if nothing had been', async () => {
    const stage = await Stage.open();
    drain(stage, true);
    const id = await stage.submit();
    stage.database.hold();
    drain(stage, false);
    drain(stage, true);
    drain(stage, false);
    stage.database.release();
    await stage.settle();
    expect(stage.row(id).status).toBe('running');
    expect(assignments(stage)).toEqual([1]);
  });

  it('behind an assignment that is on its way starts that run', async () => {
    const stage = await Stage.open();
    const { run_id: id } = await stage.server.service.submit({ graph: GRAPH, options: { target: { worker: 'one' } } });
    await settled();
    expect(assignments(stage)).toEqual([1]);
    expect(stage.agent.living).toEqual([]);
    drain(stage, true);
    await stage.settle();
    const [process] = stage.agent.living;
    process!.begin();
    process!.finish('succeeded');
    await stage.pass(2_000);
    expect(stage.row(id).status).toBe('succeeded');
  });

  it('by its agent, which is about to end, sends a run back to its place and keeps nothing that the run had', async () => {
    const stage = await Stage.open();
    await stage.submit();
    const [process] = stage.agent.living;
    process!.begin();
    stage.agent.agent.stop(null);
    const refused = await stage.submit();
    expect(assignments(stage)).toEqual([1, 1]);
    expect(stage.row(refused)).toMatchObject({ status: 'queued', workerId: null });
    expect(stage.server.service.usage({ worker: 'one', device: 'cpu' }).used).toBe(1);
    // Undrained by people it still ends, and nothing is sent to it.
    drain(stage, true);
    drain(stage, false);
    await stage.settle();
    expect(stage.server.registry.get('one')!.draining).toBe(true);
    expect(assignments(stage)).toEqual([1, 1]);
    process!.finish('succeeded');
    await stage.pass(10_000);
    stage.agent.crash();
    await stage.agent.start();
    await stage.pass(1_000);
    expect(stage.row(refused).status).toBe('running');
  });

  it('at the very moment of an assignment starts the run or sends it back to its place, whatever comes first', async () => {
    const stage = await Stage.open(['cuda:0']);
    const { service } = stage.server;
    const used = (): number => service.usage({ worker: 'one', device: 'cuda:0' }).used;
    const became = { started: 0, returned: 0, waited: 0 };
    for (let seed = 1; seed <= MOMENTS; seed++) {
      const chance = new Chance(seed);
      stage.database.hold();
      const options = { target: { worker: 'one' }, device: 'cuda' };
      const submitted = service.submit({ graph: GRAPH, options });
      for (let commits = chance.below(4); commits > 0; commits--) {
        stage.database.commit(1);
        await settled();
      }
      // What is on its way is there, or is not.
      if (chance.next() < 0.5) await stage.settle();
      drain(stage, true);
      stage.database.release();
      await stage.settle();
      const { run_id: id } = await submitted;
      const starts = stage.row(id).status === 'running';
      expect(stage.agent.living).toHaveLength(starts ? 1 : 0);
      expect(used()).toBe(starts ? 1 : 0);
      drain(stage, false);
      await stage.settle();
      const [process] = stage.agent.living;
      process!.begin();
      process!.finish('succeeded');
      await stage.settle();
      expect(stage.row(id)).toMatchObject({ status: 'succeeded' });
      const { attempt } = process!.assignment;
      became[starts ? 'started' : attempt > 1 ? 'returned' : 'waited'] += 1;
    }
    expect(Math.min(...Object.values(became))).toBeGreaterThan(MOMENTS / 10);
  }, 120_000);
});

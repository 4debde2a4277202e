import type { RunRow } from '@cdui/protocol';
import { times } from '../../testing/long';
import { Site, until } from './site';

/** Half of them by the server, half by the agent. */
const MOMENTS = times(10, 100);

let site: Site;
beforeAll(async () => {
  site = await Site.open();
});
afterEach(() => site.endAgents());
afterAll(() => site.close());

const on = (worker: string): object => ({ target: { worker } });
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a drained worker', () => {
  it('finishes what it has, takes nothing new, and takes up what waited when it is undrained', async () => {
    const agent = await site.agent('one');
    const first = await site.submit('Await', on('one'), 'one');
    await site.begun(first);
    expect(await site.drain('one')).toMatchObject({ status: 200, json: { name: 'one', draining: true } });
    expect(await site.drain('one')).toMatchObject({ status: 200, json: { draining: true, running: [first] } });
    await until(
      () => agent.report,
      (report) => report?.draining === true,
    );
    const second = await site.submit('Give', on('one'));
    const reason = { queue_reason_code: 'worker_draining', queue_reason_params: { worker: 'one' } };
    expect(await site.run(second)).toMatchObject({ status: 'queued', ...reason });
    site.openGate('one');
    expect(await site.ended(first)).toMatchObject({ status: 'succeeded' });
    expect(await site.run(second)).toMatchObject({ status: 'queued', ...reason });
    expect(await site.undrain('one')).toMatchObject({ status: 200, json: { draining: false } });
    expect(await site.ended(second)).toMatchObject({ status: 'succeeded' });
    expect(await site.undrain('one')).toMatchObject({ status: 200, json: { draining: false } });
  });

  it('is drained until it connects anew', async () => {
    const agent = await site.agent('two');
    await site.drain('two');
    const id = await site.submit('Give', on('two'));
    agent.kill('SIGTERM');
    await agent.ended;
    expect(await site.run(id)).toMatchObject({ status: 'queued' });
    await site.agent('two');
    expect(await site.ended(id)).toMatchObject({ status: 'succeeded' });
  });

  it('has to exist, and only who has the token drains it', async () => {
    for (const order of ['drain', 'undrain']) {
      const nobody = await site.order(`/api/workers/nobody/${order}`);
      expect(nobody).toMatchObject({ status: 404, json: { detail: { code: 'worker_not_found' } } });
      expect(await site.order(`/api/workers/one/${order}`, false)).toMatchObject({ status: 403 });
    }
  });
});

describe('drained at the very moment of an assignment', () => {
  /** It started once, whatever its first assignment came to. */
  async function expectWhole(row: RunRow): Promise<void> {
    expect(row).toMatchObject({ status: 'succeeded' });
    const types = await site.events(row.id);
    expect(types.filter((type) => type === 'execution_start')).toHaveLength(1);
    expect(types.filter((type) => type.startsWith('execution_'))).toEqual(['execution_start', 'execution_complete']);
  }

  it('by the server, the run starts or returns to its place', async () => {
    await site.agent('three');
    for (let moment = 0; moment < MOMENTS; moment++) {
      const submitted = site.submit('Give', on('three'));
      await turns(3 * moment);
      await site.drain('three');
      const id = await submitted;
      const behind = await site.submit('Give', on('three'));
      // What had started goes on to its end; what had not waits, in front of what came later.
      const row = await site.run(id, (now) => !now.active || now.queue_reason_code === 'worker_draining');
      const waits = row.status === 'queued';
      expect(await site.run(behind)).toMatchObject({ status: 'queued', queue_position: waits ? 2 : 1 });
      expect(row).toMatchObject(waits ? { queue_position: 1, worker_id: null } : { status: 'succeeded' });
      await site.undrain('three');
      await expectWhole(await site.ended(id));
      await expectWhole(await site.ended(behind));
      expect(await site.worker('three')).toMatchObject({ draining: false });
      expect(await site.used('three')).toEqual({ cpu: 0 });
    }
  }, 120_000);

  it('by the agent itself, the run ends there or with the next agent', async () => {
    let agent = await site.agent('four');
    for (let moment = 0; moment < MOMENTS; moment++) {
      const submitted = site.submit('Give', on('four'));
      await turns(5 * moment);
      agent.kill('SIGUSR2');
      const id = await submitted;
      expect(await agent.ended).toEqual({ code: 0, signal: null });
      await site.run(id, ({ status }) => status === 'succeeded' || status === 'queued');
      agent = await site.agent('four');
      await expectWhole(await site.ended(id));
    }
  }, 300_000);
});

import { Stage } from './stage';

describe('a worker that is away', () => {
  it.each([
    [289_000, 'running'],
    [301_000, 'interrupted'],
  ])('for %d ms finds its run %s', async (ms, status) => {
    const stage = await Stage.open();
    const id = await stage.submit();
    const [process] = stage.agent.living;
    process!.begin();
    process!.say();
    await stage.pass(100);
    stage.reachable = false;
    await stage.cut();
    await stage.pass(50);
    expect(stage.row(id).status).toBe('disconnected');
    process!.say();
    await stage.pass(ms);
    stage.reachable = true;
    // The agent tries again within 10 s.
    await stage.pass(ms < 300_000 ? 10_500 : 20_000);
    expect(stage.row(id).status).toBe(status);
    if (status === 'running') {
      process!.finish('succeeded');
      await stage.pass(2_000);
      expect(await stage.events(id)).toEqual([
        ...['execution_start', 'run_warning', 'run_warning', 'run_warning', 'run_warning', 'execution_complete'],
      ]);
      return;
    }
    const events = await stage.events(id);
    expect(events.at(-1)).toBe('execution_stopped');
    expect(stage.row(id).facts).toMatchObject({ error_reason: { code: 'worker_gone', params: { seconds: 300 } } });
    expect(stage.sent).toContainEqual({ type: 'cancel', run_id: id, attempt: 1, grace_s: 0 });
    expect(process!.gone).toBe(true);
    await stage.pass(5_000);
    expect(stage.row(id).facts).toMatchObject({ late_result: { status: 'cancelled' } });
    expect(await stage.events(id)).toEqual(events);
    expect(stage.agent.disk.spools.get(id)?.removed).toBe(true);
    const next = await stage.submit();
    expect(stage.row(next).status).toBe('running');
  });
});

describe('a server that is restarted', () => {
  it('takes over what its workers execute, and what they said meanwhile', async () => {
    const stage = await Stage.open();
    const id = await stage.submit();
    const [process] = stage.agent.living;
    process!.begin();
    await stage.pass(100);
    const database = stage.server.crash(false);
    process!.say();
    process!.finish('succeeded');
    await stage.startServer(database);
    expect(stage.row(id).status).toBe('disconnected');
    await stage.pass(15_000);
    expect(stage.row(id).status).toBe('succeeded');
    // The server died before it had stored that the run starts: that is said again.
    expect(await stage.events(id)).toEqual([
      ...['run_warning', 'run_warning', 'execution_start', 'run_warning', 'execution_complete'],
    ]);
  });

  it('gives up, after the grace, what nobody comes back with, and says why', async () => {
    const stage = await Stage.open();
    const id = await stage.submit();
    stage.reachable = false;
    await stage.startServer(stage.server.crash(false));
    await stage.pass(301_000);
    expect(stage.row(id)).toMatchObject({
      status: 'interrupted',
      facts: { error_reason: { code: 'worker_lost_after_restart' } },
    });
  });
});

describe('an agent that is restarted', () => {
  it('ends the runs that it lost at once, with all that they said', async () => {
    const stage = await Stage.open();
    const id = await stage.submit();
    const [process] = stage.agent.living;
    process!.begin();
    process!.say();
    await stage.pass(100);
    await stage.cut();
    process!.say();
    await stage.pass(1);
    stage.agent.crash();
    await stage.agent.start();
    await stage.pass(11_000);
    expect(stage.row(id)).toMatchObject({
      status: 'interrupted',
      facts: { error_reason: { code: 'agent_restarted' } },
    });
    expect((await stage.events(id)).filter((type) => type === 'run_warning')).toHaveLength(4);
  });

  it('that has lost its disk as well has lost its runs: nobody waits for them', async () => {
    const stage = await Stage.open();
    const id = await stage.submit();
    stage.agent.living[0]!.begin();
    await stage.pass(100);
    await stage.cut();
    stage.agent.crash();
    stage.agent.disk.spools.clear();
    await stage.agent.start();
    await stage.pass(11_000);
    expect(stage.row(id)).toMatchObject({ status: 'interrupted', facts: { error_reason: { code: 'run_lost' } } });
  });
});

describe('an agent that does not answer', () => {
  it('loses its connection, and the run begins anew when it is back: the old one cannot', async () => {
    const stage = await Stage.open();
    stage.agent.party.freeze(45_000);
    // Its socket lives: only the process stands still.
    const lookAway = stage.agent.agent.mayStart.bind(stage.agent.agent);
    stage.agent.agent.mayStart = () => false;
    const id = await stage.submit();
    await stage.pass(30_500);
    expect(stage.row(id).status).toBe('queued');
    stage.agent.agent.mayStart = lookAway;
    await stage.pass(25_000);
    stage.agent.living[0]!.begin();
    await stage.pass(60_000);
    expect(stage.row(id).status).toBe('running');
    expect(stage.agent.processes.map(({ assignment }) => assignment.attempt)).toEqual([2]);
  });

  it('goes on with a run that was cancelled while it was away only until it hears of it', async () => {
    const stage = await Stage.open();
    const id = await stage.submit();
    const [process] = stage.agent.living;
    process!.begin();
    await stage.pass(100);
    stage.reachable = false;
    await stage.cut();
    expect(await stage.server.service.cancel(id)).toMatchObject({ cancelled: true, status: 'disconnected' });
    stage.reachable = true;
    await stage.pass(45_000);
    expect([stage.row(id).status, process!.gone]).toEqual(['cancelled', true]);
  });
});

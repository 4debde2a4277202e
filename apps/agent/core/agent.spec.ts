import { assign, CPU, ModelWorld, settled, welcome } from './testing/model-world';

const finished = (world: ModelWorld, at = -1) => {
  const frame = world.lines.at(at)!.numbered().at(-1);
  return frame?.type === 'run_finished' ? frame : null;
};

let world: ModelWorld;
beforeEach(async () => {
  world = new ModelWorld();
  await world.start();
});

describe('connecting', () => {
  it('says hello, then which runs it has before anything else, also when there are none', async () => {
    const line = await world.connect();
    expect(line.toServer.map(({ type }) => type)).toEqual(['hello', 'run_alive']);
    expect(line.toServer[1]).toEqual({ type: 'run_alive', runs: [] });
  });

  it('tries again for ever, within a limit that doubles up to 10 s, and says why once and when it is back', async () => {
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      world.asked.pop()!.ended({ code: null, reason: 'nobody listens' });
      waits.push(world.clock.next!);
      world.clock.advance(world.clock.next!);
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
    expect(world.said.filter((text) => text.includes('nobody listens'))).toHaveLength(1);
    await world.connect();
    expect(world.said.filter((text) => text.startsWith('Connected'))).toHaveLength(1);
    expect(world.agent.status).toMatchObject({ connected: true, reason: null, worker_id: 'model' });
  });

  it('begins with short pauses again after a connection that lasted, and not after one that did not', async () => {
    for (const [lasts, pause] of [
      [1_000, 250],
      [1_000, 500],
      [12_000, 250],
    ] as const) {
      const line = await world.connect();
      for (let ms = 0; ms < lasts; ms += 1_000) {
        world.clock.advance(1_000);
        line.pong();
      }
      await world.cut(line);
      expect(world.clock.next).toBe(pause);
      world.clock.advance(pause);
    }
  });

  it('does not fight for its place with the one that took it', async () => {
    await world.cut(await world.connect(), 4409);
    expect(world.clock.next).toBe(5_000);
  });

  it('leaves a connection on which nothing came for three heartbeats', async () => {
    const line = await world.connect(10);
    world.clock.advance(29_000);
    expect(line.closed).toBeNull();
    world.clock.advance(3_000);
    expect(line.closed).toMatchObject({ code: 4408 });
    expect(world.agent.status).toMatchObject({ connected: false });
  });

  it('leaves one that never says welcome, and one that speaks something else', async () => {
    const silent = world.open();
    world.clock.advance(10_000);
    expect(silent.closed?.code).toBe(4408);
    world.clock.advance(500);
    const strange = world.open();
    strange.events.message('GET / HTTP/1.1');
    expect(strange.closed?.code).toBe(4422);
    await settled();
  });

  it('goes on with its heartbeats while a driver hangs, with what is known', async () => {
    world.devices = () => new Promise(() => undefined);
    const line = await world.connect(10);
    for (let second = 0; second < 62; second++) {
      world.clock.advance(1_000);
      line.pong();
    }
    const beats = line.toServer.filter(({ type }) => type === 'heartbeat');
    expect(beats).toHaveLength(6);
    expect(beats[0]).toMatchObject({ devices: [CPU], running: [] });
  });

  it('says hello again when there is another device, and not when one is merely busy', async () => {
    const line = await world.connect(10);
    const beat = async (devices: (typeof CPU)[]): Promise<void> => {
      world.devices = () => Promise.resolve(devices);
      world.clock.advance(10_000);
      line.pong();
      await settled();
    };
    await beat([{ ...CPU, free_bytes: 0 }]);
    expect(line.toServer.filter(({ type }) => type === 'hello')).toHaveLength(1);
    await beat([CPU, { ...CPU, device: 'cuda:0' }]);
    expect(line.toServer.filter(({ type }) => type === 'hello')).toHaveLength(2);
  });

  it('ends when the control plane refuses it, with the reason', async () => {
    const line = world.open();
    line.give({ type: 'reject', code: 'version', reason: 'version mismatch', params: {} });
    expect(await world.agent.over).toEqual({ how: 'rejected', code: 'version', reason: 'version mismatch' });
  });
});

describe('runs', () => {
  it('are started, numbered and acknowledged', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    const [run] = world.launcher.processes;
    for (let count = 0; count < 3; count++) run!.say();
    await settled();
    run!.finish();
    await settled();
    expect(line.numbered().map(({ type, run_id, attempt, seq }) => [type, run_id, attempt, seq])).toEqual([
      ['warning', 'r1', 1, 1],
      ['warning', 'r1', 1, 2],
      ['warning', 'r1', 1, 3],
      ['run_finished', 'r1', 1, 4],
    ]);
    line.give({ type: 'ack', run_id: 'r1', attempt: 1, seq: 4 });
    await settled();
    expect(world.disk.spools.get('r1')!.removed).toBe(true);
  });

  it('go on while there is no connection, and are sent afterwards from where they were acknowledged', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    const [run] = world.launcher.processes;
    run!.say();
    await settled();
    line.give({ type: 'ack', run_id: 'r1', attempt: 1, seq: 1 });
    run!.say();
    await settled();
    await world.cut(line);
    for (let count = 0; count < 20_000; count++) {
      expect(run!.say()).toBe(true);
      if (count % 100 === 0) await settled();
    }
    world.clock.advance(500);
    const again = world.open();
    again.give(welcome());
    run!.say();
    await settled();
    expect(again.toServer[1]).toMatchObject({ type: 'run_alive', runs: [{ run_id: 'r1', attempt: 1 }] });
    expect(again.numbered().map(({ seq }) => seq)).toEqual(Array.from({ length: 20_002 }, (_, index) => index + 2));
  });

  it('wait while the connection takes no more, and nothing is kept in memory for it', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    const [run] = world.launcher.processes;
    line.flows = false;
    let said = 0;
    for (; run!.say() && said < 100_000; said++) if (said % 10 === 0) await settled();
    expect(said).toBeLessThan(20_000);
    line.flows = true;
    line.events.drained();
    await settled();
    expect(line.numbered().length).toBeGreaterThanOrEqual(said);
    expect(run!.say()).toBe(true);
  });

  it('of an older attempt are ended at once when a newer one comes, and it starts when they are gone', async () => {
    const line = await world.connect();
    line.give(assign('r1', 1));
    await settled();
    line.give(assign('r1', 1));
    line.give(assign('r1', 2));
    await settled();
    line.give(assign('r1', 1));
    await settled();
    expect(world.launcher.processes.map(({ assignment, gone }) => [assignment.attempt, gone])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(line.numbered()).toEqual([]);
  });

  it('are refused with a reason: drained, a device that is not offered, files that it cannot reach', async () => {
    const line = await world.connect();
    line.give(assign('r1', 1, 'cuda:7'));
    await settled();
    expect(finished(world)?.outcome.reason).toEqual({ code: 'device_not_offered', params: { device: 'cuda:7' } });
    line.give({ ...assign('r2'), storage: { backend: 'transfer', inputs: [] } });
    await settled();
    expect(finished(world)?.outcome.reason?.code).toBe('run_not_started');
    line.give({ type: 'drain', draining: true });
    line.give(assign('r3'));
    await settled();
    expect(finished(world)?.outcome.reason?.code).toBe('agent_draining');
    line.give({ type: 'drain', draining: false });
    line.give(assign('r4'));
    await settled();
    expect(world.launcher.living).toHaveLength(1);
  });

  it('are taken again by one that was drained when it connects anew: the server says it again if that still holds', async () => {
    const line = await world.connect();
    line.give({ type: 'drain', draining: true });
    expect(world.agent.status.draining).toBe(true);
    await world.cut(line);
    expect(world.agent.status.draining).toBe(true);
    world.clock.advance(10_000);
    const again = await world.connect();
    expect(world.agent.status.draining).toBe(false);
    again.give(assign('r1'));
    await settled();
    expect(world.launcher.living).toHaveLength(1);
  });

  it('are cancelled with the grace that was said', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    line.give({ type: 'cancel', run_id: 'other', attempt: 1 });
    line.give({ type: 'cancel', run_id: 'r1', attempt: 2, grace_s: 0 });
    const [run] = world.launcher.processes;
    expect(run!.stopped).toBeNull();
    line.give({ type: 'cancel', run_id: 'r1', attempt: 1 });
    expect(run!.stopped).toEqual({ graceS: 30, by: 'cancel' });
  });

  it('end with a named reason when the disk is full, and no others are taken until there is room', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    const [run] = world.launcher.processes;
    run!.say();
    await settled();
    world.disk.full = true;
    run!.say();
    await settled();
    expect(run!.gone).toBe(true);
    expect(line.numbered().map(({ seq }) => seq)).toEqual([1, 2]);
    expect(finished(world)?.outcome).toMatchObject({
      status: 'failed',
      reason: { code: 'disk_full', params: { path: '/runs' } },
    });
    line.give(assign('r2'));
    await settled();
    expect(finished(world)).toMatchObject({ run_id: 'r2', outcome: { reason: { code: 'disk_full' } } });
    world.disk.full = false;
    world.clock.advance(10_000);
    await settled();
    line.give(assign('r3'));
    line.pong();
    await settled();
    line.pong();
    await settled();
    expect(world.launcher.living).toHaveLength(1);
  });

  it('are not given out while the disk is full: it is looked at with each heartbeat, and changes are told at once', async () => {
    const line = await world.connect();
    const drains = () => line.toServer.flatMap((frame) => (frame.type === 'heartbeat' ? [frame.draining] : []));
    const beat = async (): Promise<void> => {
      world.clock.advance(10_000);
      line.pong();
      await settled();
    };
    world.disk.full = true;
    await beat();
    expect(drains().at(-1)).toBe(true);
    expect(world.agent.status.refuses).toContain('/runs');
    await beat();
    expect(world.said.filter((text) => text.includes('no room'))).toHaveLength(1);
    world.disk.full = false;
    await beat();
    expect(drains().at(-1)).toBeUndefined();
    expect(world.agent.status.refuses).toBeNull();
  });

  it('that left no room for others say so before they are over', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    world.disk.full = true;
    world.launcher.processes[0]!.finish();
    await settled();
    const said = line.toServer.slice(-2).map((frame) => [frame.type, 'draining' in frame]);
    expect(said).toEqual([
      ['heartbeat', true],
      ['run_finished', false],
    ]);
  });

  it('of an agent that died are sent by the next one, which then says that they are lost', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    world.launcher.processes[0]!.say();
    await settled();
    world.disk.died();
    await world.start();
    const again = await world.connect();
    expect(again.toServer[1]).toEqual({
      type: 'run_alive',
      runs: [{ run_id: 'r1', attempt: 1, last_seq: 2 }],
    });
    expect(again.numbered().map(({ type, seq }) => [type, seq])).toEqual([
      ['warning', 1],
      ['run_finished', 2],
    ]);
    expect(finished(world)?.outcome).toMatchObject({ status: 'interrupted', reason: { code: 'agent_restarted' } });
  });
});

describe('an agent that was frozen', () => {
  it('starts nothing until a ping that it sent afterwards is answered', async () => {
    const line = await world.connect(10);
    world.clock.sleep(60_000);
    line.give(assign('r1'));
    await settled();
    expect(world.launcher.processes).toHaveLength(0);
    line.pong();
    await settled();
    expect(world.launcher.processes).toHaveLength(1);
  });

  it('forgets what it did not start when the connection turns out to be gone', async () => {
    const line = await world.connect(10);
    world.clock.sleep(60_000);
    line.give(assign('r1'));
    await world.cut(line);
    world.clock.advance(500);
    const again = await world.connect();
    again.pong();
    await settled();
    expect(world.launcher.processes).toHaveLength(0);
    expect(again.toServer[1]).toEqual({ type: 'run_alive', runs: [] });
  });

  it('waits likewise while a ping is unanswered: only one sent behind the assignment counts', async () => {
    const line = await world.connect(10);
    world.clock.advance(10_000);
    const before = line.pings.splice(0);
    line.give(assign('r1'));
    await settled();
    before.forEach((ping) => line.events.ponged(ping));
    await settled();
    expect(world.launcher.processes).toHaveLength(0);
    line.pong();
    await settled();
    expect(world.launcher.processes).toHaveLength(1);
  });

  it('answers a second welcome with what waits as well, and still starts it', async () => {
    const line = await world.connect(10);
    world.clock.sleep(60_000);
    line.give(assign('r1'));
    await settled();
    line.give(welcome());
    expect(line.toServer.at(-1)).toEqual({ type: 'run_alive', runs: [{ run_id: 'r1', attempt: 1, last_seq: 0 }] });
    line.pong();
    await settled();
    expect(world.launcher.processes).toHaveLength(1);
  });
});

describe('an agent that is stopped', () => {
  it('gives its runs the grace, goes on with heartbeats, and waits until their end is acknowledged', async () => {
    const line = await world.connect(1);
    line.give(assign('r1'));
    await settled();
    let over = false;
    void world.agent.over.then(() => (over = true));
    world.agent.stop(10);
    const [run] = world.launcher.processes;
    expect(run!.stopped).toEqual({ graceS: 10, by: 'agent_stopped' });
    const before = line.toServer.length;
    world.clock.advance(2_000);
    await settled();
    expect(line.toServer.slice(before).filter(({ type }) => type === 'heartbeat').length).toBeGreaterThanOrEqual(1);
    run!.finish('cancelled');
    await settled();
    expect(over).toBe(false);
    line.give({ type: 'ack', run_id: 'r1', attempt: 1, seq: 1 });
    await settled();
    expect(over).toBe(true);
    expect(line.closed?.code).toBe(1000);
    world.clock.advance(60_000);
    expect(world.asked).toHaveLength(0);
  });

  it('waits for its runs when it is drained, takes no others, and can still be stopped', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    world.agent.stop(null);
    line.give(assign('r2'));
    await settled();
    expect(finished(world)).toMatchObject({ run_id: 'r2', outcome: { reason: { code: 'agent_draining' } } });
    expect(world.launcher.processes[0]!.stopped).toBeNull();
    world.agent.stop(10);
    expect(world.launcher.processes[0]!.stopped).toEqual({ graceS: 10, by: 'agent_stopped' });
    world.launcher.processes[0]!.finish();
    await settled();
    world.clock.advance(5_000);
    expect(await world.agent.over).toEqual({ how: 'stopped' });
  });
});

describe('an agent that drains of its own accord', () => {
  it('says so at once, in every heartbeat and in the hello of a new connection', async () => {
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    const before = line.toServer.length;
    world.agent.stop(null);
    expect(world.agent.status).toMatchObject({ draining: true, stopping: false });
    expect(line.toServer.slice(before)).toEqual([
      { type: 'heartbeat', devices: [CPU], running: ['r1'], draining: true },
    ]);
    world.agent.stop(10);
    expect(world.agent.status).toMatchObject({ draining: true, stopping: true });
    expect(line.toServer).toHaveLength(before + 1);
    world.clock.advance(10_000);
    await settled();
    expect(line.toServer.at(-1)).toMatchObject({ type: 'heartbeat', draining: true });
    await world.cut(line);
    world.clock.advance(10_000);
    const again = await world.connect();
    expect(again.toServer[0]).toMatchObject({ type: 'hello', draining: true });
  });

  it('says it to a server that answers its hello later, and not when only the server asked for it', async () => {
    const line = world.open();
    world.agent.stop(null);
    expect(line.toServer.map(({ type }) => type)).toEqual(['hello']);
    line.give(welcome());
    expect(line.toServer.slice(1)).toMatchObject([{ type: 'run_alive' }, { type: 'heartbeat', draining: true }]);
    await world.agent.over;
    await world.start();
    const other = await world.connect();
    other.give({ type: 'drain', draining: true });
    world.clock.advance(10_000);
    await settled();
    expect(other.toServer.at(-1)).toEqual({ type: 'heartbeat', devices: [CPU], running: [] });
  });
});

describe('an agent that shall not work for nobody', () => {
  it('stops its runs when it was without a connection for so long, and not when it was back before', async () => {
    world = new ModelWorld();
    world.stopAfterSilenceMs = 60_000;
    await world.start();
    const line = await world.connect();
    line.give(assign('r1'));
    await settled();
    const [run] = world.launcher.processes;
    await world.cut(line);
    world.clock.advance(59_000);
    const again = await world.connect();
    await world.cut(again);
    world.clock.advance(59_999);
    expect(run!.stopped).toBeNull();
    world.clock.advance(1);
    expect(run!.stopped).toEqual({ graceS: 30, by: 'server_unreachable' });
  });
});

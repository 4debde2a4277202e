import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import { ModelServer } from './testing/model-server';
import { ModelWorld, settled } from './testing/model-world';

type Step = (chaos: Chaos) => Promise<void> | void;

/** An agent, the control plane it dials, and everything that may happen between them. */
class Chaos {
  readonly server = new ModelServer();
  readonly world = new ModelWorld((assignment) => this.server.launched(assignment, this.world.launcher.living));

  async connect(): Promise<void> {
    if (this.server.line || this.world.asked.length === 0) return;
    this.server.connect(this.world.open());
  }

  async cut(): Promise<void> {
    const { line } = this.server;
    if (!line) return;
    this.server.cut();
    await this.world.cut(line);
    this.world.clock.advance(10_000);
  }

  async crash(): Promise<void> {
    this.server.cut();
    this.world.disk.died();
    for (const process of this.world.launcher.living) process.gone = true;
    await this.start();
  }

  async start(): Promise<void> {
    await this.world.start();
    this.world.launcher.dies = false;
  }

  /** All that is on its way arrives. */
  async talk(): Promise<void> {
    const { line } = this.server;
    for (let more = line !== null; more && line === this.server.line;) {
      more = this.server.take();
      more = (line?.deliver() ?? false) || more;
      await settled();
    }
  }

  process(index: number) {
    const { living } = this.world.launcher;
    return living[index % Math.max(1, living.length)];
  }

  /** Nothing goes wrong any more. */
  async calm(): Promise<void> {
    this.world.disk.slow = false;
    this.world.disk.work();
    for (let round = 0; round < 20; round++) {
      this.world.clock.advance(10_000);
      await this.connect();
      const { line } = this.server;
      if (line?.closed) {
        await this.cut();
        continue;
      }
      if (line && !line.flows) {
        line.flows = true;
        line.events.drained();
      }
      line?.pong();
      await settled();
      await this.talk();
      for (const process of this.world.launcher.living) process.finish();
      await settled();
      this.server.runs.forEach((_, index) => this.server.acknowledge(index));
    }
  }
}

const steps: fc.Arbitrary<{ readonly name: string; readonly run: Step }> = fc
  .tuple(fc.nat(5), fc.integer({ min: 1, max: 6 }))
  .chain(([index, count]) => {
    const repeated = (work: () => unknown): void => {
      for (let done = 0; done < count; done++) work();
    };
    const all: Readonly<Record<string, Step>> = {
      connect: (chaos) => chaos.connect(),
      cut: (chaos) => chaos.cut(),
      crash: (chaos) => chaos.crash(),
      assign: ({ server }) => server.assign(),
      repeat: ({ server }) => server.repeat(index),
      requeue: (chaos) => (chaos.server.requeue(index) ? chaos.cut() : undefined),
      cancel: ({ server }) => server.cancel(index, count % 2),
      ack: ({ server }) => server.acknowledge(index),
      up: ({ server }) => repeated(() => server.take()),
      down: ({ server }) => repeated(() => server.line?.deliver()),
      say: (chaos) => repeated(() => chaos.process(index)?.say()),
      finish: (chaos) => chaos.process(index)?.finish(),
      freeze: ({ world }) => world.clock.sleep(60_000),
      time: ({ world }) => world.clock.advance(count * 1_000),
      pong: ({ server }) => server.line?.pong(),
      congest: ({ server }) => {
        if (server.line) server.line.flows = false;
      },
      flow: ({ server: { line } }) => {
        if (!line) return;
        line.flows = true;
        line.events.drained();
      },
      slow: ({ world }) => void (world.disk.slow = true),
      disk: ({ world }) => {
        world.disk.slow = false;
        world.disk.work();
      },
      talk: (chaos) => chaos.talk(),
    };
    // Without these it rarely comes to anything.
    const often = ['assign', 'talk', 'say', 'connect', 'talk', 'say', 'talk', 'down', 'finish'];
    return fc
      .constantFrom(...Object.keys(all), ...often)
      .map((name) => ({ name: `${name}(${index},${count})`, run: all[name]! }));
  });

/** What the control plane recorded of a run: its process's own words, all in order, and one end. */
function check({ server, world }: Chaos): void {
  expect(server.breaches).toEqual([]);
  for (const { id, state, frames } of server.runs) {
    if (state === 'queued' || state === 'lost') continue;
    expect([id, state]).toEqual([id, 'ended']);
    const said = frames.flatMap((frame) => (frame.type === 'warning' ? [frame.warning.detail] : []));
    expect(said).toEqual(said.map((_, index) => `${frames[0]!.attempt}.${index + 1}`));
    expect(frames.filter(({ type }) => type === 'run_finished')).toEqual(frames.slice(-1));
  }
  expect(world.agent.status.running).toEqual([]);
  expect([...world.disk.spools.values()].filter(({ removed }) => !removed).map(({ runId }) => runId)).toEqual([]);
}

it('whatever is cut, frozen, repeated or killed: no frame is lost or told twice, numbers have no gaps, and nothing starts that was given back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 100, size: 'max' }), async (list) => {
      const chaos = new Chaos();
      await chaos.start();
      await chaos.connect();
      await chaos.talk();
      for (const { run } of list) {
        await run(chaos);
        await settled();
        if (chaos.server.line?.closed) await chaos.cut();
      }
      await chaos.calm();
      check(chaos);
    }),
    { numRuns: times(300, 10_000) },
  );
}, 900_000);

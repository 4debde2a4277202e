import fc from 'fast-check';
import { times } from '../../../testing/long';
import type { Plan } from '../plan-types';
import { ExecutionCache } from './execution-cache';
import { producersOf } from './progress-board';
import { Harness, registryOf } from './testing/harness';
import { changed, plans, work } from './testing/random-plans';

const registry = registryOf(work);
const runs = { numRuns: times(150, 2_000) };
const parallel = fc.integer({ min: 1, max: 5 });

type End = 'completed' | 'error' | 'skipped';

/** What `error_mode: continue` must come to: a node fails if it is bad and got its turn; what lies below is skipped. */
function expectedEnds(plan: Plan): Map<string, End> {
  const ends = new Map<string, End>();
  for (const node of plan.nodes) {
    const blocked = producersOf(node).some((producer) => ends.get(producer) !== 'completed');
    ends.set(node.id, blocked ? 'skipped' : node.params['deed'] === 'fail' ? 'error' : 'completed');
  }
  return ends;
}

function ends(harness: Harness): Map<string, string> {
  const last = new Map<string, string>();
  for (const { origin, status } of harness.observer.statuses) last.set(origin.nodeId, status);
  return last;
}

/** Whether every node began after all that it reads from had ended well. */
function orderHolds(plan: Plan, trail: readonly string[]): boolean {
  return plan.nodes.every((node) => {
    const begun = trail.indexOf(`${node.id}:running`);
    if (begun < 0) return true;
    return producersOf(node).every((producer) => {
      const done = trail.indexOf(`${producer}:completed`);
      return done >= 0 && done < begun;
    });
  });
}

function mostAtOnce(trail: readonly string[]): number {
  let [now, most] = [0, 0];
  for (const entry of trail) {
    if (entry.endsWith(':running')) now += 1;
    else if (!entry.endsWith(':skipped')) now -= 1;
    most = Math.max(most, now);
  }
  return most;
}

function nothingIsLeft(harness: Harness): void {
  expect(harness.fake.live.size).toBe(0);
  expect(harness.fake.open.size).toBe(0);
}

describe('any graph', () => {
  it('continue: each node ends as the model says, in order, within bounds, and nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(plans(), parallel, async (plan, maxParallel) => {
        const harness = new Harness();
        const result = await harness.run({ plan, registry, maxParallel, options: { error_mode: 'continue' } });
        const expected = expectedEnds(plan);
        expect(ends(harness)).toEqual(expected);
        const ids = (end: End) => [...expected].filter(([, each]) => each === end).map(([id]) => id);
        expect(new Set(result.failedNodes)).toEqual(new Set(ids('error')));
        expect(new Set(result.skippedNodes)).toEqual(new Set(ids('skipped')));
        expect(result.status).toBe(ids('error').length > 0 ? 'failed' : 'succeeded');
        expect(orderHolds(plan, harness.observer.trail)).toBe(true);
        expect(mostAtOnce(harness.observer.trail)).toBeLessThanOrEqual(maxParallel);
        nothingIsLeft(harness);
      }),
      runs,
    );
  });

  it('fail_fast: nothing starts after the first failure, and nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(plans(), parallel, async (plan, maxParallel) => {
        const harness = new Harness();
        const result = await harness.run({ plan, registry, maxParallel });
        const { trail } = harness.observer;
        const failed = trail.findIndex((entry) => entry.endsWith(':error'));
        const bad = [...expectedEnds(plan).values()].includes('error');
        expect(result.status).toBe(bad ? 'failed' : 'succeeded');
        expect(failed >= 0).toBe(bad);
        if (bad) expect(trail.slice(failed).filter((entry) => entry.endsWith(':running'))).toEqual([]);
        expect(orderHolds(plan, trail)).toBe(true);
        nothingIsLeft(harness);
      }),
      runs,
    );
  });

  it('retry: fails like continue, after all attempts of every failing node', async () => {
    await fc.assert(
      fc.asyncProperty(plans(), fc.integer({ min: 0, max: 3 }), async (plan, retries) => {
        const harness = new Harness();
        await harness.run({ plan, registry, options: { error_mode: 'retry', max_retries: retries } });
        const expected = expectedEnds(plan);
        expect(ends(harness)).toEqual(expected);
        const failing = [...expected.values()].filter((end) => end === 'error').length;
        expect(harness.slept).toHaveLength(failing * retries);
        nothingIsLeft(harness);
      }),
      runs,
    );
  });

  it('seeded: runs in the order of the plan', async () => {
    await fc.assert(
      fc.asyncProperty(plans(['number', 'tensor', 'pass', 'nest']), async (plan) => {
        const harness = new Harness();
        await harness.run({ plan, registry, options: { seed: 3 } });
        const expected = plan.nodes.flatMap(({ id }) => [`${id}:running`, `${id}:completed`]);
        expect(harness.observer.trail).toEqual(expected);
      }),
      runs,
    );
  });

  it('stopped at any moment: what runs is awaited, nothing new starts, and nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(plans(['number', 'tensor', 'pass', 'nest']), fc.nat(24), async (plan, after) => {
        const harness = new Harness();
        const stop = new AbortController();
        const { observer } = harness;
        const status = observer.status.bind(observer);
        observer.status = (report) => {
          const below = status(report);
          if (observer.statuses.length > after) stop.abort('user');
          return below;
        };
        const result = await harness.run({ plan, registry, signal: stop.signal });
        const { trail } = observer;
        const finished = trail.filter((entry) => entry.endsWith(':completed')).length === plan.nodes.length;
        expect(result.status).toBe(finished ? 'succeeded' : 'cancelled');
        expect(trail.slice(after + 1).filter((entry) => entry.endsWith(':running'))).toEqual([]);
        nothingIsLeft(harness);
      }),
      runs,
    );
  });

  it('with a cache gives what it gives without one, whatever changed in between', async () => {
    const good = plans(['number', 'tensor', 'pass', 'nest']);
    await fc.assert(
      fc.asyncProperty(
        good,
        fc.array(fc.array(fc.nat(11), { maxLength: 3 }), { maxLength: 4 }),
        async (first, edits) => {
          const harness = new Harness();
          const cache = new ExecutionCache({ entries: 6, bytes: 1e6 });
          let plan = first;
          for (const edit of [[], ...edits]) {
            plan = changed(plan, edit);
            const cached = await harness.run({ plan, registry, cache });
            const fresh = await new Harness().run({ plan, registry });
            expect(cached.finalOutputs).toEqual(fresh.finalOutputs);
          }
          expect(cache.size).toBeLessThanOrEqual(6);
          cache.clear();
          nothingIsLeft(harness);
        },
      ),
      runs,
    );
  });
});

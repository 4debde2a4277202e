import fc from 'fast-check';
import { times } from '../../testing/long';
import type { WaitingRun, WorkerState } from './requests';
import { ANY, LOCAL } from './requests';
import { SchedulerState } from './scheduler-state';
import { SlotLimits } from './slot-limits';
import { SlowScheduler } from './testing/slow-scheduler';

const CARDS = ['cuda:0', 'cuda:1', 'cuda:2'];
const DEVICES = ['cpu', ...CARDS];
const WORKERS = [LOCAL, 'ann', 'ben'];

/** What a run asks for: a device, a set, or any card. */
const asks = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('cpu', 'cuda:0', 'cuda:0', 'cuda:1').map((device) => ({ devices: [device] })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(['cuda:0', 'cuda:1'], ['cuda:1', 'cuda:2', 'cuda:0']).map((devices) => ({ devices })),
  },
  { weight: 2, arbitrary: fc.constant({ devices: [] as string[], kind: 'cuda' }) },
);
const identity = fc.constantFrom(undefined, undefined, 'card:1', 'card:2');
const workers = fc.record({
  id: fc.constantFrom(...WORKERS),
  online: fc.integer({ min: 0, max: 3 }).map((chance) => chance > 0),
  devices: fc.oneof(fc.constant(DEVICES), fc.subarray(DEVICES)),
  identities: fc.tuple(identity, identity, identity),
  sameHost: fc.boolean(),
  complete: fc.integer({ min: 0, max: 3 }).map((chance) => chance > 0),
  capable: fc.boolean(),
});
const pick = fc.nat();
const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      worker: fc.constantFrom(...WORKERS, ANY, ANY),
      ask: asks,
      alone: fc.nat(4),
      priority: fc.constantFrom(0, 0, 0, 1),
      needs: fc.nat(4),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({ do: fc.constant('next' as const), once: fc.nat(3).map((chance) => chance === 0) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'release' as const, 'return' as const), pick }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'fence' as const, 'lift' as const), pick }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('move' as const), pick, position: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('drain' as const), worker: fc.constantFrom(...WORKERS), on: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('worker' as const), worker: workers }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('limits' as const),
      gpu: fc.integer({ min: 0, max: 2 }),
      cpu: fc.integer({ min: 0, max: 3 }),
    }),
  },
);

type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

/** The scheduler and the slow model beside it; both are told the same. */
class Pair {
  private readonly slow = new SlowScheduler(new SlotLimits());
  private readonly state = new SchedulerState();
  private readonly lifts: { readonly placed: SlowScheduler['fenced'][number]; readonly lift: () => void }[] = [];
  private seq = 0;

  constructor() {
    this.state.limits(this.slow.limits);
    this.become({ id: LOCAL, online: true, devices: DEVICES });
    this.become({ id: 'ann', online: true, devices: DEVICES, identities: { 'cuda:0': 'card:1' } });
  }

  act(step: Step): void {
    const { state, slow } = this;
    switch (step.do) {
      case 'submit': {
        const { worker, ask, alone, priority, needs } = step;
        const queueKey = `${worker}/${ask.devices.join('+')}`;
        const extras = { ...(alone === 0 && { alone: true }), ...(needs === 0 && { needs: ['f'] }) };
        return this.submit({ id: `r${this.seq}`, worker, ...ask, ...extras, priority, queueKey, queueSeq: this.seq++ });
      }
      case 'next': {
        for (let placed = state.next(), more = true; more; placed = more ? state.next() : null) {
          expect(placed).toEqual(slow.next());
          // Mostly whatever can start does, and what is looked at then is what a change lets in.
          more = placed !== null && !step.once;
        }
        return;
      }
      case 'release':
      case 'return': {
        const placed = slow.held[step.pick % Math.max(1, slow.held.length)];
        const does = step.do === 'release' ? state.release.bind(state) : state.giveBack.bind(state);
        expect(does(placed?.run.id ?? 'nobody')).toBe(placed !== undefined);
        slow.held = slow.held.filter((other) => other !== placed);
        if (placed && step.do === 'return') slow.waiting.push(placed.run);
        return;
      }
      case 'fence': {
        const placed = slow.held[step.pick % Math.max(1, slow.held.length)];
        const fence = state.fence(placed?.run.id ?? 'nobody');
        expect(fence?.worker).toBe(placed?.worker);
        if (!placed || !fence) return;
        this.lifts.push({ placed, lift: fence.lift });
        slow.held = slow.held.filter((other) => other !== placed);
        slow.fenced.push(placed);
        slow.waiting.push(placed.run);
        return;
      }
      case 'lift': {
        const fence = this.lifts[step.pick % Math.max(1, this.lifts.length)];
        fence?.lift();
        slow.fenced = slow.fenced.filter((other) => other !== fence?.placed);
        return;
      }
      case 'remove': {
        const waiting = slow.waiting[step.pick % Math.max(1, slow.waiting.length)];
        expect(state.remove(waiting?.id ?? 'nobody')).toBe(waiting !== undefined);
        slow.waiting = slow.waiting.filter((other) => other !== waiting);
        return;
      }
      case 'move':
        return this.move(step.pick, step.position);
      case 'drain':
        state.drain(step.worker, step.on);
        if (step.on) slow.draining.add(step.worker);
        else slow.draining.delete(step.worker);
        return;
      case 'worker': {
        const { id, online, devices, identities, sameHost, complete, capable } = step.worker;
        const known = CARDS.flatMap((card, index) => (identities[index] ? [[card, identities[index]]] : []));
        const own = { identities: Object.fromEntries(known) as Record<string, string> };
        const features = id === LOCAL ? {} : { sameHost, complete, capabilities: capable ? ['f'] : [] };
        return this.become({ id, online, devices, ...own, ...features });
      }
      case 'limits':
        slow.limits = new SlotLimits({ gpu: step.gpu, cpu: step.cpu, overrides: 'cuda:2=2,ann/cuda:0=2' });
        state.limits(slow.limits);
    }
  }

  /** What both say of runs that wait and of devices. */
  compare(): void {
    const { state, slow } = this;
    // An assertion for each of them would take most of the time.
    const same = (what: string, mine: unknown, theirs: unknown): void => {
      if (mine !== theirs) throw new Error(`${what}: ${String(mine)}, and by the rules ${String(theirs)}`);
    };
    for (const run of slow.waiting) {
      same(`The position of ${run.id}`, state.position(run.id), slow.position(run.id));
      const code = state.reason(run.id)?.code;
      const gated = slow.isFront(run) && slow.comesHere(run) && slow.isGated(run);
      const reason = code === undefined ? 'none' : code === 'seeded_run' ? 'gate' : 'other';
      same(`Why ${run.id} waits`, reason, slow.canGo(run) ? (gated ? 'gate' : 'none') : 'other');
    }
    for (const slot of slow.slots) {
      const name = `${slot.worker}/${slot.device}`;
      const { used, limit, sameCard } = state.usage(slot);
      same(`The use of ${name}`, used, slow.used(slot.worker, slot.device));
      same(`The limit of ${name}`, limit, slow.limit(slot));
      const others = slow.slots.filter((other) => slow.card(other) === slow.card(slot)).length - 1;
      same(`The other slots of ${name}`, sameCard.length, others);
    }
  }

  private submit(run: WaitingRun): void {
    this.state.submit(run);
    this.slow.waiting.push(run);
  }

  private become(worker: WorkerState): void {
    this.state.workerChanged(worker);
    this.slow.workers.set(worker.id, worker);
  }

  private move(pick: number, position: number): void {
    const { state, slow } = this;
    const run = slow.waiting[pick % Math.max(1, slow.waiting.length)];
    expect(state.move(run?.id ?? 'nobody', position)).toBe(run !== undefined);
    if (!run) return;
    const others = slow.waiting.filter((other) => other !== run && other.queueKey === run.queueKey);
    const moved = state.waits(run.id)!;
    slow.waiting = slow.waiting.map((other) => (other === run ? moved : other));
    expect(slow.position(run.id)).toBe(Math.min(position, others.length + 1));
  }
}

describe('SchedulerState', () => {
  it('does what the rules say, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 80 }), (all) => {
        const pair = new Pair();
        for (const step of all) {
          pair.act(step);
          pair.compare();
        }
      }),
      { numRuns: times(2_000, 50_000) },
    );
  });
});

import { ACK_FRAMES, ACK_MS } from '@cdui/protocol';
import fc from 'fast-check';
import { VirtualClock } from '../runs/testing/virtual-clock';
import { Acknowledgements } from './acknowledgements';

describe('acknowledgements', () => {
  it('are sent after so many frames or so long, never ahead of what is durable and never backwards', () => {
    const step = fc.oneof(
      fc.record({ durable: fc.integer({ min: 1, max: 3 * ACK_FRAMES }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 2 * ACK_MS }) }),
    );
    fc.assert(
      fc.property(fc.array(step), fc.nat(100), (steps, from) => {
        const clock = new VirtualClock();
        const sent: number[] = [];
        const acks = new Acknowledgements(clock, (seq) => sent.push(seq), from);
        let durable = from;
        let unsaidSince: number | null = null;
        for (const next of steps) {
          if ('durable' in next) acks.reached((durable += next.durable));
          else clock.advance(next.wait);
          const told = sent.at(-1) ?? from;
          expect(told).toBeLessThanOrEqual(durable);
          expect(durable - told).toBeLessThan(ACK_FRAMES);
          if (told === durable) unsaidSince = null;
          else unsaidSince ??= clock.monotonic();
          if (unsaidSince !== null) expect(clock.monotonic() - unsaidSince).toBeLessThanOrEqual(ACK_MS);
        }
        expect(sent).toEqual([...new Set(sent)].sort((a, b) => a - b));
      }),
    );
  });

  it('say again where they are to one that came back, and nothing when nobody is there any more', () => {
    const clock = new VirtualClock();
    const sent: number[] = [];
    const acks = new Acknowledgements(clock, (seq) => sent.push(seq), 7);
    acks.tell();
    acks.reached(8);
    acks.stop();
    clock.advance(10 * ACK_MS);
    expect(sent).toEqual([7]);
  });
});

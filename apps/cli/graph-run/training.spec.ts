import { TrainingProgress } from './training';

function after(...frames: readonly (readonly [number, Readonly<Record<string, unknown>>])[]): TrainingProgress {
  const progress = new TrainingProgress(0);
  for (const [at, frame] of frames) progress.take(frame, at);
  return progress;
}

const config = (epochs: number, start_epoch = 0) => ({ event: 'config', config: { epochs, start_epoch } });
const batch = (epoch: number, done: number, phase = 'train') => ({
  event: 'batch',
  epoch,
  batch: done,
  total_batches: 100,
  loss: 0.25,
  phase,
});

it('tells the share done and the time left from what was done so far', () => {
  const progress = after([1000, config(4)], [3000, batch(1, 50)]);
  expect(progress.done).toBe(0.125);
  expect(progress.secondsLeft(3000)).toBe(14);
  expect(progress.bar(3000, 79)).toMatch(/^█+░+ {2}12% {2}epoch 1\/4 {2}batch 50\/100 {2}loss 0\.25 {2}14 s left$/);
});

it('counts only the epochs that this run trains', () => {
  const progress = after([0, config(4, 2)], [1000, batch(3, 100)]);
  expect(progress.done).toBe(0.5);
});

it('stays where it is while it validates', () => {
  const progress = after([0, config(2)], [1000, batch(1, 100)], [1500, batch(1, 20, 'validation')]);
  expect(progress.done).toBe(0.5);
  expect(progress.bar(1500, 79)).toContain('validation 20/100');
});

it('calls a loss that is no number any more NaN', () => {
  const line = new TrainingProgress(0).take(
    { event: 'epoch', epoch: 1, total_epochs: 2, loss: null, val_loss: null, lr: 0.1 },
    2000,
  );
  expect(line).toMatch(/loss NaN {2}val_loss NaN {2}lr 0\.1/);
});

it('is done when the last epoch is', () => {
  const epoch = (at: number) => ({ event: 'epoch', epoch: at, total_epochs: 2, loss: 0.1, lr: 0.1 });
  expect(after([0, config(2)], [900, batch(1, 100)], [1000, epoch(1)]).done).toBe(0.5);
  expect(after([0, config(2)], [1000, epoch(1)], [2000, epoch(2)]).done).toBe(1);
});

it('is never wider than the terminal and never breaks before there is anything to say', () => {
  const empty = new TrainingProgress(0);
  for (const progress of [empty, after([0, config(1)], [10, batch(1, 99)])]) {
    for (let width = 20; width < 200; width += 1) expect(progress.bar(10, width).length).toBeLessThanOrEqual(width);
  }
  expect(empty.bar(0, 79)).toContain('epoch 1/1');
});

it('draws the bar to the share that is done', () => {
  const bar = (done: number) => after([0, config(1)], [1000, batch(1, done)]).bar(1000, 79);
  const count = (text: string, sign: string) => text.split(sign).length - 1;
  expect(count(bar(0), '█')).toBe(0);
  expect(count(bar(100), '░')).toBe(0);
  const half = bar(50);
  expect(Math.abs(count(half, '█') - count(half, '░'))).toBeLessThanOrEqual(1);
  expect(half).toContain(' 50%');
});

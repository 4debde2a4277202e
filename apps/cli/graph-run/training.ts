import { duration, short } from './summary';

type Frame = Readonly<Record<string, unknown>>;

/** What a training loop has said so far, and how long it will take. Pure: time comes with the frames, in milliseconds of the run. */
export class TrainingProgress {
  private epochs = 1;
  private first = 0;
  private completed = 0;
  private epoch = 0;
  private batch = 0;
  private batches = 0;
  private phase = 'train';
  private loss: number | null = null;
  private startedAt: number;
  private epochStartedAt: number;

  constructor(atMs: number) {
    this.startedAt = atMs;
    this.epochStartedAt = atMs;
  }

  /** Takes a frame in. Returns a line that deserves to stay (an epoch's result), else null. */
  take(frame: Frame, atMs: number): string | null {
    switch (frame['event']) {
      case 'config':
        return this.config(frame['config'] as Frame, atMs);
      case 'batch':
        this.epoch = number(frame['epoch']) ?? this.epoch;
        this.batch = number(frame['batch']) ?? this.batch;
        this.batches = number(frame['total_batches']) ?? this.batches;
        this.phase = typeof frame['phase'] === 'string' ? frame['phase'] : 'train';
        this.loss = number(frame['loss']);
        return null;
      case 'epoch':
        return this.endOfEpoch(frame, atMs);
      default:
        return null;
    }
  }

  /** Share of the training batches that are done, 0 to 1. Validation does not count: how long it takes is not known before. */
  get done(): number {
    const total = this.epochs - this.first;
    if (total <= 0) return 0;
    return Math.min(1, (this.completed - this.first + this.withinEpoch) / total);
  }

  private get withinEpoch(): number {
    if (this.batches === 0 || this.epoch <= this.completed) return 0;
    return this.phase === 'train' ? this.batch / this.batches : 1;
  }

  secondsLeft(atMs: number): number | null {
    const { done } = this;
    if (done <= 0) return null;
    return ((atMs - this.startedAt) / 1000) * (1 / done - 1);
  }

  /** The present state on one line of at most `width` characters: epoch, bar, batch, loss, time left. */
  bar(atMs: number, width: number): string {
    const left = this.secondsLeft(atMs);
    const what = this.phase === 'train' ? 'batch' : this.phase;
    const parts = [
      `epoch ${Math.max(1, this.epoch)}/${this.epochs}`,
      ...(this.batches > 0 ? [`${what} ${this.batch}/${this.batches}`] : []),
      ...(this.loss === null ? [] : [`loss ${short(this.loss)}`]),
      ...(left === null ? [] : [`${duration(left)} left`]),
    ];
    const text = parts.join('  ');
    const room = Math.min(30, width - text.length - 9);
    if (room < 5) return text.slice(0, width);
    const full = Math.round(this.done * room);
    const percent = `${String(Math.floor(this.done * 100)).padStart(3)}%`;
    return `${'█'.repeat(full)}${'░'.repeat(room - full)} ${percent}  ${text}`;
  }

  private config(config: Frame | undefined, atMs: number): string | null {
    this.startedAt = atMs;
    this.epochStartedAt = atMs;
    this.epochs = number(config?.['epochs']) ?? 1;
    this.first = number(config?.['start_epoch']) ?? 0;
    this.completed = this.first;
    const params = number(config?.['params']);
    const words = [
      ...(params === null ? [] : [`${params.toLocaleString('en-US')} params`]),
      ...['optimizer', 'loss_fn', 'device'].flatMap((key) => (typeof config?.[key] === 'string' ? [config[key]] : [])),
      `${this.epochs} ${this.epochs === 1 ? 'epoch' : 'epochs'}`,
    ];
    return words.join(', ');
  }

  private endOfEpoch(frame: Frame, atMs: number): string {
    this.epoch = number(frame['epoch']) ?? this.epoch;
    this.epochs = number(frame['total_epochs']) ?? this.epochs;
    this.completed = this.epoch;
    this.batches = 0;
    this.loss = null;
    this.phase = 'train';
    const seconds = (atMs - this.epochStartedAt) / 1000;
    this.epochStartedAt = atMs;
    const accuracy = number(frame['val_accuracy']);
    const words = [
      `epoch ${this.epoch}/${this.epochs}`,
      `loss ${loss(frame['loss'])}`,
      ...(frame['val_loss'] === undefined ? [] : [`val_loss ${loss(frame['val_loss'])}`]),
      ...(accuracy === null ? [] : [`val_accuracy ${(accuracy * 100).toFixed(2)} %`]),
      ...(frame['lr'] === undefined ? [] : [`lr ${short(frame['lr'])}`]),
      duration(seconds),
    ];
    return words.join('  ');
  }
}

/** Frames are JSON, where a loss that is no number any more is null. */
function loss(value: unknown): string {
  return value === null ? 'NaN' : short(value);
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

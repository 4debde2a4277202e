import type { AgentFrame, AssignFrame, NumberedFrame, ServerFrame } from '@cdui/protocol';
import { assign, type ModelLine, type ModelProcess, welcome } from './model-world';

interface ServedRun {
  readonly id: string;
  attempt: number;
  state: 'queued' | 'assigned' | 'started' | 'ended' | 'lost';
  /** Frames of the current attempt that were recorded, by number. */
  frames: NumberedFrame[];
  /** Where the current attempt was assigned. */
  line: ModelLine | null;
}

/** A control plane that remembers everything, believes nothing, and throws when a promise of the agent is broken. */
export class ModelServer {
  readonly runs: ServedRun[] = [];
  /** Processes that were started and must not have been. */
  readonly breaches: string[] = [];
  line: ModelLine | null = null;
  private welcomed = false;

  connect(line: ModelLine): void {
    this.line = line;
    this.welcomed = false;
  }

  cut(): void {
    this.line = null;
  }

  /** Gives the agent a run: one that came back, else a new one. */
  assign(): void {
    if (!this.line || !this.welcomed) return;
    let run = this.runs.find(({ state }) => state === 'queued');
    if (!run) {
      run = { id: `run-${this.runs.length}`, attempt: 1, state: 'queued', frames: [], line: null };
      this.runs.push(run);
    }
    run.state = 'assigned';
    run.line = this.line;
    this.say(assign(run.id, run.attempt));
  }

  /** Says an assignment again. */
  repeat(index: number): void {
    const run = this.pick(index);
    if (run && run.line === this.line) this.say(assign(run.id, run.attempt));
  }

  cancel(index: number, graceS: number): void {
    const run = this.pick(index);
    if (run) this.say({ type: 'cancel', run_id: run.id, attempt: run.attempt, grace_s: graceS });
  }

  /** Gives up on an attempt, whatever the agent makes of it. @returns whether the line must be cut: its assignment may still be on its way */
  requeue(index: number): boolean {
    const run = this.pick(index);
    if (!run || (run.state !== 'assigned' && run.state !== 'started')) return false;
    const unanswered = run.state === 'assigned';
    this.queue(run);
    return unanswered;
  }

  acknowledge(index: number): void {
    const run = this.pick(index);
    if (run && run.frames.length > 0)
      this.say({ type: 'ack', run_id: run.id, attempt: run.attempt, seq: run.frames.length });
  }

  /** The next frame from the agent arrives. @returns whether there was one */
  take(): boolean {
    const frame = this.line?.toServer.shift();
    if (frame) this.handle(frame);
    return frame !== undefined;
  }

  /** A process was started for it. */
  launched({ run_id: id, attempt }: AssignFrame, living: readonly ModelProcess[]): void {
    const run = this.runs.find((one) => one.id === id);
    const rules = [
      [run?.attempt === attempt, `${id} started in the attempt ${attempt}, not ${run?.attempt}`],
      [run?.line !== null && run?.line === this.line, `${id} started after its line was cut`],
      [!living.some(({ assignment }) => assignment.run_id === id), `${id} started while it had another process`],
    ] as const;
    for (const [kept, breach] of rules) if (!kept) this.breaches.push(breach);
  }

  private pick(index: number): ServedRun | undefined {
    return this.line && this.welcomed ? this.runs[index % Math.max(1, this.runs.length)] : undefined;
  }

  private handle(frame: AgentFrame): void {
    if (frame.type === 'hello') {
      this.welcomed = true;
      this.say(welcome());
    } else if (frame.type === 'run_alive') this.alive(frame.runs);
    else if ('seq' in frame) this.record(frame);
  }

  private alive(listed: readonly { readonly run_id: string; readonly attempt: number }[]): void {
    for (const run of this.runs) {
      if (run.line === this.line || (run.state !== 'assigned' && run.state !== 'started')) continue;
      if (listed.some(({ run_id, attempt }) => run_id === run.id && attempt === run.attempt)) run.state = 'started';
      else if (run.state === 'started') run.state = 'lost';
      else this.queue(run);
    }
    for (const { run_id, attempt } of listed) {
      if (this.runs.find(({ id }) => id === run_id)?.attempt !== attempt) this.refuse(run_id, attempt);
    }
  }

  private record(frame: NumberedFrame): void {
    const run = this.runs.find(({ id }) => id === frame.run_id)!;
    if (frame.attempt !== run.attempt || run.state === 'queued' || run.state === 'lost') {
      this.refuse(frame.run_id, frame.attempt);
      const { run_id, attempt, seq } = frame;
      if (frame.type === 'run_finished') this.say({ type: 'ack', run_id, attempt, seq });
      return;
    }
    const known = run.frames[frame.seq - 1];
    if (known) {
      if (JSON.stringify(known) !== JSON.stringify(frame)) throw new Error(`${run.id}: ${frame.seq} means two things`);
      return;
    }
    if (frame.seq !== run.frames.length + 1) throw new Error(`${run.id}: ${frame.seq} after ${run.frames.length}`);
    if (run.state === 'ended') throw new Error(`${run.id}: ${frame.type} after the end`);
    run.frames.push(frame);
    run.state = frame.type === 'run_finished' ? 'ended' : 'started';
  }

  private queue(run: ServedRun): void {
    Object.assign(run, { state: 'queued', attempt: run.attempt + 1, frames: [], line: null });
  }

  private refuse(run_id: string, attempt: number): void {
    this.say({ type: 'cancel', run_id, attempt, grace_s: 0 });
  }

  private say(frame: ServerFrame): void {
    this.line?.toAgent.push(frame);
  }
}

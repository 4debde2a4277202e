import { systemWords } from '@cdui/host/system-words';
import type { PipeKind, RunHostMessage, RunOutcome, WarningPayload } from '@cdui/protocol';
import { CodedError, encodePipeFrame } from '@cdui/protocol';
import type { DeviceView } from '../runner/device-view';

/** A message of the run host that travels as a frame. */
export type FrameMessage = Exclude<RunHostMessage, { readonly type: 'ready' | 'console' }>;

export interface FrameFacts {
  readonly view: DeviceView;
  /** What results may depend on, as this process finds it. */
  readonly fingerprint: (runtime: unknown) => Readonly<Record<string, unknown>>;
  /** Most memory that this process held, in bytes; null where the system does not tell. */
  readonly peakRss: () => number | null;
  /** How long after the assignment the run began, in milliseconds. */
  readonly afterMs: () => number;
}

/** The frames that a message travels as: one, unless it is too large for the pipe and a warning takes its place or goes ahead of what is left of it. */
export function framesOf(message: FrameMessage, facts: FrameFacts): readonly Uint8Array[] {
  const { type } = message;
  switch (message.type) {
    case 'run_started': {
      const { visible, aliases } = facts.view;
      return [encodePipeFrame(type, { visible_devices: visible, device_aliases: aliases, after_ms: facts.afterMs() })];
    }
    case 'run_facts': {
      const fingerprint = facts.fingerprint(message.facts['runtime']);
      return [encodePipeFrame(type, { facts: { ...message.facts, fingerprint } })];
    }
    case 'run_finished':
      return finished(withPeak(message.outcome, facts.peakRss()));
    case 'event':
      return [timed(message.type, { at_ms: message.at_ms, event: message.event })];
    case 'metrics':
      return [timed(message.type, { at_ms: message.at_ms, points: message.points })];
    case 'artifact':
      return [timed(message.type, { at_ms: message.at_ms, artifact: message.artifact })];
    case 'warning':
      return [timed(message.type, { at_ms: message.at_ms, warning: message.warning })];
  }
}

/** Whether a message must leave before the run goes on: what it runs next may never let this thread write again. */
export function isUrgent(message: FrameMessage): boolean {
  return message.type !== 'metrics' && !(message.type === 'event' && message.event.payload.status === 'progress');
}

function finished(outcome: RunOutcome): readonly Uint8Array[] {
  const whole = encoded('run_finished', { outcome });
  if (whole) return [whole];
  const { graph_outputs: _, final_outputs: __, ...rest } = outcome;
  const at = Math.round(outcome.seconds * 1000);
  return [warning(at, tooLarge('run_finished')), encodePipeFrame('run_finished', { outcome: rest })];
}

/** The processor's memory is this process's, and nothing else is in it. */
function withPeak(outcome: RunOutcome, bytes: number | null): RunOutcome {
  if (bytes === null) return outcome;
  const others = outcome.peak_memory.filter(({ device }) => device !== 'cpu');
  return { ...outcome, peak_memory: [{ device: 'cpu', bytes, exact: true }, ...others] };
}

/** Members one by one: taking a message apart costs more than its frame. */
function timed(kind: PipeKind, members: Readonly<Record<string, unknown>> & { readonly at_ms: number }): Uint8Array {
  return encoded(kind, members) ?? warning(members.at_ms, tooLarge(kind));
}

function encoded(kind: PipeKind, members: Readonly<Record<string, unknown>>): Uint8Array | null {
  try {
    return encodePipeFrame(kind, members);
  } catch (error) {
    if (error instanceof CodedError && error.code === 'frame_too_large') return null;
    throw error;
  }
}

/** What the run prints is not kept; its system code says why. */
export function outputLost(atMs: number, error: string): Uint8Array {
  const detail = `What the run prints cannot be kept: ${systemWords(error)}. It goes on, and some of its output is missing`;
  return warning(atMs, { kind: 'output_lost', code: 'output_lost', detail, params: { error } });
}

function warning(atMs: number, payload: WarningPayload): Uint8Array {
  return encodePipeFrame('warning', { at_ms: atMs, warning: payload });
}

function tooLarge(kind: PipeKind): WarningPayload {
  const detail =
    kind === 'run_finished'
      ? 'The outputs of the graph are too large to be reported with the end of the run, and are left out'
      : `A report of the run (${kind}) is too large to be sent, and is left out`;
  return { kind: 'frame_too_large', code: 'frame_too_large', detail, params: { kind } };
}

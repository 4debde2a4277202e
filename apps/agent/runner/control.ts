import type { AssignFrame, StopReason } from '@cdui/protocol';

/** What the agent tells a run's process, a line of JSON each. When the pipe ends, so does the process. */
export type ControlMessage =
  | {
      readonly type: 'start';
      readonly assignment: AssignFrame;
      /** The run's folder. */
      readonly folder: string;
    }
  | { readonly type: 'cancel'; readonly reason: StopReason };

/** Of the run's process: frames go out, control comes in. */
export const FRAMES_FD = 3;
export const CONTROL_FD = 4;
/** The program of a run's process, below the root. */
export const CHILD_ENTRY = 'apps/agent/child/main';

/** Cuts what comes through the pipe into messages, wherever its chunks begin and end. */
export class ControlReader {
  private rest = '';
  private readonly decoder = new TextDecoder();

  push(chunk: Uint8Array): readonly ControlMessage[] {
    const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split('\n');
    this.rest = lines.pop() ?? '';
    return lines.map((line) => JSON.parse(line) as ControlMessage);
  }
}

/** A message as `ControlReader` reads it. */
export function controlLine(message: ControlMessage): string {
  return `${JSON.stringify(message)}\n`;
}

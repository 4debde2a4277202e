import type { AssignFrame, StopReason } from '@cdui/protocol';

/** What the agent tells a run's process, a line of JSON each. When the pipe ends, so does the process. */
export type ControlMessage =
  | {
      readonly type: 'start';
      readonly assignment: AssignFrame;
      /** The run's folder. */
      readonly folder: string;
      /** When the assignment came, on the machine's clock. */
      readonly assignedAt: number;
    }
  | { readonly type: 'cancel'; readonly reason: StopReason };

/** Of the run's process: frames go out, control comes in. */
export const FRAMES_FD = 3;
export const CONTROL_FD = 4;
/** The program of a run's process, below the root. */
export const CHILD_ENTRY = 'apps/agent/child/main';

const NEWLINE = 10;

/** Cuts what comes through the pipe into messages, wherever its chunks begin and end. An assignment may be long: every byte is looked at once. */
export class ControlReader {
  private parts: Uint8Array[] = [];

  push(chunk: Uint8Array): readonly ControlMessage[] {
    const messages: ControlMessage[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.parts.push(chunk.subarray(from, end));
      messages.push(JSON.parse(Buffer.concat(this.parts).toString('utf8')) as ControlMessage);
      this.parts = [];
      from = end + 1;
    }
    if (from < chunk.length) this.parts.push(chunk.subarray(from));
    return messages;
  }
}

/** A message as `ControlReader` reads it. */
export function controlLine(message: ControlMessage): string {
  return `${JSON.stringify(message)}\n`;
}

import type { NumberedFrameType } from '@cdui/protocol';

/**
 * Where the frames of one run go. A frame is its kind and the JSON members after `run_id`, `attempt` and `seq`, in UTF-8 and without the
 * opening brace, such as `"at_ms":3,"points":[]}`: it was encoded by the subprocess and is parsed nowhere on its way.
 */
export interface RunOutlet {
  /** Takes the next frame. The last one is `run_finished`; it comes exactly once. @returns whether more may come now */
  frame(type: NumberedFrameType, members: Buffer): boolean;
  /** Resolves when more may come. */
  drained(): Promise<void>;
}

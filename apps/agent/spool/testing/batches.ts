import { batchesOf, pendingFrame } from '../../core/lines';
import type { LineBatch } from '../../core/world';

/** Frames of a run with those numbers, as batches to append. */
export function framesOf(runId: string, first: number, count: number, bytes = 20): readonly LineBatch[] {
  return batchesOf(
    Array.from({ length: count }, (_, index) => {
      const seq = first + index;
      const members = Buffer.from(`"at_ms":${seq},"points":["${'x'.repeat(bytes)}"]}`);
      return pendingFrame('metrics', runId, 1, seq, members);
    }),
  );
}

/** The numbers of the frames of a batch; throws when one of them is no frame. */
export function seqsOf({ bytes }: LineBatch): readonly number[] {
  const text = Buffer.from(bytes.subarray(1)).toString();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { seq: number }).seq);
}

/** The first line of a spool. It always has the same length, so that it can be written again in place. */
export interface SpoolHeader {
  readonly run_id: string;
  readonly attempt: number;
  /** Lines up to this frame count no more; those that are still there are left over. */
  readonly acknowledged: number;
}

export const HEADER_BYTES = 256;

export function headerLine({ run_id, attempt, acknowledged }: SpoolHeader): Buffer {
  const text = JSON.stringify({ run_id, attempt, acknowledged });
  return Buffer.from(`${text.padEnd(HEADER_BYTES - 1)}\n`);
}

/** Null when it is none. */
export function readHeader(bytes: Buffer): SpoolHeader | null {
  try {
    const { run_id, attempt, acknowledged } = JSON.parse(bytes.toString('utf8', 0, HEADER_BYTES)) as SpoolHeader;
    const whole = Number.isSafeInteger(attempt) && Number.isSafeInteger(acknowledged);
    return typeof run_id === 'string' && whole ? { run_id, attempt, acknowledged } : null;
  } catch {
    return null;
  }
}

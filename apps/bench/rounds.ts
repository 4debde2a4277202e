/** Something whose cost can be measured again and again: milliseconds per step. */
export interface Subject {
  readonly name: string;
  measure(): Promise<number>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Measures all subjects in alternating rounds, so that a slow minute of the machine hits each of them.
 * The first round warms caches and compilers and is thrown away.
 */
export async function alternate(subjects: readonly Subject[], rounds: number): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(subjects.map((s) => [s.name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const subject of subjects) {
      const ms = await subject.measure();
      if (round > 0) times[subject.name]!.push(ms);
    }
  }
  return times;
}

/** Median over the rounds of ours / theirs. */
export function ratio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((ms, round) => ms / theirs[round]!));
}

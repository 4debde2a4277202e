/** Edit distance of two short words, where swapping two neighbours counts once. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : Infinity;
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), swap));
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}

/** Up to three of `known` that `word` may have meant, nearest first; case does not count. */
export function nearMatches(word: string, known: readonly string[]): readonly string[] {
  const low = word.toLowerCase();
  return known
    .map((name) => ({ name, far: distance(low, name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ name }) => name);
}

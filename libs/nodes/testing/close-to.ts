/** Fails unless nested lists of numbers have the same structure and differ by at most `tolerance` relative to 1 or the larger number. */
export function expectClose(actual: unknown, expected: unknown, tolerance = 1e-5): void {
  const difference = firstDifference(actual, expected, tolerance, '');
  if (difference !== null) throw new Error(difference);
}

function firstDifference(actual: unknown, expected: unknown, tolerance: number, path: string): string | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) {
      return `at ${path || 'the top'}: expected ${expected.length} items, got ${Array.isArray(actual) ? actual.length : String(actual)}`;
    }
    for (const [index, item] of expected.entries()) {
      const difference = firstDifference(actual[index], item, tolerance, `${path}[${index}]`);
      if (difference !== null) return difference;
    }
    return null;
  }
  const [got, wanted] = [Number(actual), Number(expected)];
  const room = tolerance * Math.max(1, Math.abs(wanted));
  return Math.abs(got - wanted) <= room ? null : `at ${path || 'the top'}: expected ${wanted}, got ${String(actual)}`;
}

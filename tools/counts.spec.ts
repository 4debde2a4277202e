import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

describe('.ci/counts', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-counts-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function counts(report: object | string): { line: string; status: number | null } {
    const path = join(folder, 'report.json');
    writeFileSync(path, typeof report === 'string' ? report : JSON.stringify(report));
    const { stdout, status } = spawnSync(process.execPath, [resolve(__dirname, '../.ci/counts.cjs'), path], {
      encoding: 'utf8',
    });
    return { line: stdout, status };
  }

  const green = {
    numPassedTests: 12,
    numFailedTests: 0,
    numRuntimeErrorTestSuites: 0,
    numPendingTests: 0,
    numTodoTests: 0,
  };

  it.each([
    ['all passed', green, '12 passed, 0 failed, 0 skipped\n', 0],
    ['some failed', { ...green, numFailedTests: 2 }, '12 passed, 2 failed, 0 skipped\n', 1],
    ['a file did not run', { ...green, numRuntimeErrorTestSuites: 1 }, '12 passed, 1 failed, 0 skipped\n', 1],
    ['some skipped', { ...green, numPendingTests: 1, numTodoTests: 1 }, '12 passed, 0 failed, 2 skipped\n', 0],
    ['nothing ran', { ...green, numPassedTests: 0 }, '0 passed, 0 failed, 0 skipped\n', 1],
    ['no report', '', '0 passed, 1 failed, 0 skipped\n', 1],
  ])('%s', (_what, report, line, status) => {
    expect(counts(report)).toEqual({ line, status });
  });
});

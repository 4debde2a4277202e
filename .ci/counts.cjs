// Prints the line of counts of a jest report. A spec file that could not run at all, and a missing report, count as failures.
'use strict';

const { readFileSync } = require('node:fs');

function counts(path) {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
      skipped: report.numPendingTests + report.numTodoTests,
    };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const { passed, failed, skipped } = counts(process.argv[2]);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

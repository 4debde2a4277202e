import { plainStyle } from '../graph-run/style';
import type { EndedRun } from './run-end';
import { resultLines } from './run-result';

const RUN: EndedRun = {
  ...{ id: 'r', status: 'failed', error: null, final_metrics: [], started_at: null, finished_at: null },
};

it('shows an error of several lines as such, without what would move the cursor', () => {
  const error = 'The run’s process ended by itself\nThe end of its output:\n  Traceback\u001b[2J\r\n\tat line 3\n';
  expect(resultLines({ ...RUN, error }, [], plainStyle)).toEqual([
    'Result',
    '  status     failed',
    '  error      The run’s process ended by itself',
    '             The end of its output:',
    '               Traceback [2J',
    '               at line 3',
  ]);
});

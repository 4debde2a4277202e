import type { Run } from '../client/api';
import { plainStyle } from '../graph-run/style';
import { metricTable, runTable } from './run-lists';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const run = (more: Partial<Run>): Run =>
  ({
    id: '0123456789abcdef0123456789abcdef',
    name: 'Digits',
    status: 'succeeded',
    queue_key: 'cpu',
    queue_position: null,
    created_at: '2026-01-01T11:00:00Z',
    started_at: '2026-01-01T11:00:10Z',
    finished_at: '2026-01-01T11:02:15Z',
    final_metrics: [],
    ...more,
  }) as Run;

it('lists runs, and says how to see more', () => {
  const metric = { node_id: 'n', step: 1 };
  const runs = [
    run({ status: 'queued', queue_position: 3, started_at: null, finished_at: null, name: 'a\u001B[2J\nb' }),
    run({ status: 'running', finished_at: null, started_at: '2026-01-01T11:59:00Z' }),
    run({
      final_metrics: [
        { ...metric, name: 'train_loss', value: 0.5 },
        { ...metric, name: 'val_accuracy', value: 0.98765 },
      ],
    }),
  ];
  expect(runTable(runs, 9, 4, NOW, plainStyle)).toEqual([
    'ID        STATUS     DEVICE  AGE  TOOK        NAME     METRIC',
    '01234567  queued #3  cpu     1h   -           a [2J b',
    '01234567  running    cpu     1h   1 min 00 s  Digits',
    '01234567  succeeded  cpu     1h   2 min 05 s  Digits   val_accuracy 0.9877',
    '5 to 7 of 9: --offset 7 shows more',
  ]);
  expect(runTable([], 0, 0, NOW, plainStyle)).toEqual(['No runs.']);
  expect(runTable([], 9, 20, NOW, plainStyle)).toEqual(['No runs here: there are 9.']);
});

it('sums up each series of metrics, and leaves out values that are none', () => {
  const point = (name: string, step: number, value: number | null) => ({ node_id: 'training', name, step, value });
  expect(
    metricTable([
      point('loss', 1, 2),
      point('lr', 1, 0.1),
      point('loss', 2, null),
      point('loss', 3, 1),
      point('x', 1, null),
    ]),
  ).toEqual([
    'METRIC  NODE      POINTS  LAST  MIN  MAX  STEP',
    'loss    training  3       1     1    2    3',
    'lr      training  1       0.1   0.1  0.1  1',
    'x       training  1       -     -    -    1',
  ]);
  expect(metricTable([])).toEqual(['No metrics.']);
});

import type { Artifact, Run } from '../client/api';
import type { Style } from '../graph-run/style';
import { duration, short } from '../graph-run/summary';
import { printable, printableLines } from '../terminal/table';
import type { EndedRun } from './run-end';

/** Metrics beyond these are counted: a run may record hundreds. */
const SHOWN_METRICS = 20;

/** How a run ended, as a block of lines. */
export function resultLines(run: EndedRun, artifacts: readonly Artifact[], style: Style): readonly string[] {
  const row = (title: string, text: string): string => `  ${title.padEnd(10)} ${text}`;
  const metrics = run.final_metrics.map(
    ({ name, value, node_id, step }) =>
      `${printable(name)} ${value === null ? 'not finite' : short(value)}  ${style.dim(`(${printable(node_id)}, step ${step})`)}`,
  );
  const seconds = secondsOf(run);
  return [
    style.strong('Result'),
    row('status', statusWord(run.status, style)),
    ...(run.error === null
      ? []
      : printableLines(run.error.trim()).map((line, index) => row(index === 0 ? 'error' : '', style.bad(line)))),
    ...(seconds === null ? [] : [row('duration', duration(seconds))]),
    ...listed('metrics', metrics, SHOWN_METRICS, row),
    ...listed(
      'artifacts',
      artifacts.map(({ kind, path }) => `${printable(kind)}  ${printable(path)}`),
      SHOWN_METRICS,
      row,
    ),
  ];
}

function listed(title: string, items: readonly string[], most: number, row: (title: string, text: string) => string) {
  const shown = items.slice(0, most).map((item, index) => row(index === 0 ? title : '', item));
  return items.length > most ? [...shown, row('', `and ${items.length - most} more`)] : shown;
}

/** Seconds from its start to its end, or to `now` while it goes on; null before it started. */
export function secondsOf({ started_at, finished_at }: Pick<Run, 'started_at' | 'finished_at'>, now?: number) {
  if (started_at === null) return null;
  const end = finished_at === null ? now : Date.parse(finished_at);
  return end === undefined ? null : Math.max(0, (end - Date.parse(started_at)) / 1000);
}

export function statusWord(status: string, style: Style): string {
  const paint: Readonly<Record<string, (text: string) => string>> = {
    succeeded: style.good,
    failed: style.bad,
    cancelled: style.warn,
    interrupted: style.warn,
    disconnected: style.warn,
    running: style.name,
  };
  return (paint[status] ?? style.dim)(status);
}

import type { Artifact, Run, RunDetail } from '../client/api';
import type { Style } from '../graph-run/style';
import { duration, short } from '../graph-run/summary';
import { resultLines, secondsOf, statusWord } from '../run/run-result';
import { cut, printable, table } from '../terminal/table';
import { ago, bytes, shortId } from '../terminal/units';

const NAME = 40;

/** Runs as a table. Pure: `now` is the time, in milliseconds since the epoch. */
export function runTable(
  runs: readonly Run[],
  total: number,
  offset: number,
  now: number,
  style: Style,
): readonly string[] {
  if (runs.length === 0) return [total === 0 ? 'No runs.' : `No runs here: there are ${total}.`];
  const rows = runs.map((run) => [
    shortId(run.id),
    statusWord(run.status, style) + (run.queue_position === null ? '' : ` #${run.queue_position}`),
    printable(run.queue_key),
    ago(run.created_at, now),
    durationOf(run, now),
    cut(run.name, NAME),
    metricOf(run),
  ]);
  const lines = table(['ID', 'STATUS', 'DEVICE', 'AGE', 'TOOK', 'NAME', 'METRIC'], rows);
  const last = offset + runs.length;
  return last < total
    ? [...lines, style.dim(`${offset + 1} to ${last} of ${total}: --offset ${last} shows more`)]
    : lines;
}

function durationOf(run: Run, now: number): string {
  const seconds = secondsOf(run, now);
  return seconds === null ? '-' : duration(seconds);
}

/** One that says how good it is, if there is one. */
function metricOf({ final_metrics }: Run): string {
  const metric =
    final_metrics.find(({ name }) => /accuracy/i.test(name)) ?? final_metrics.find(({ name }) => /loss/i.test(name));
  return metric === undefined || metric.value === null ? '' : `${cut(metric.name, 20)} ${short(metric.value)}`;
}

/** One run, with how it was asked for and what came out. */
export function runLines(run: RunDetail, artifacts: readonly Artifact[], now: number, style: Style): readonly string[] {
  const row = (title: string, text: string | null): string[] =>
    text === null ? [] : [`  ${title.padEnd(10)} ${text}`];
  const seconds = secondsOf(run, now);
  const asked = Object.entries(run.options).filter(([, value]) => value !== null && value !== false && value !== '');
  const nodes = (run.graph as { readonly nodes?: readonly unknown[] }).nodes?.length ?? 0;
  return [
    `${style.strong(printable(run.name))}  ${style.dim(run.id)}`,
    ...row('graph', `${nodes} nodes`),
    ...row('device', run.devices?.map(printable).join(', ') ?? printable(run.queue_key)),
    ...row('worker', run.worker_id),
    ...row('options', asked.map(([name, value]) => `${name}=${printable(JSON.stringify(value))}`).join(' ')),
    ...row('retry of', run.retry_of),
    ...row('submitted', `${run.created_at} (${ago(run.created_at, now)} ago)`),
    ...row('started', run.started_at),
    ...row('ended', run.finished_at),
    ...row('events', String(run.last_cursor)),
    ...(run.active
      ? [
          ...row('status', statusWord(run.status, style)),
          ...row('position', run.queue_position === null ? null : String(run.queue_position)),
          ...row('waits', run.queue_reason === null ? null : printable(run.queue_reason)),
          ...row('running', seconds === null ? null : duration(seconds)),
        ]
      : resultLines(run, artifacts, style)),
  ];
}

export function artifactTable(artifacts: readonly Artifact[]): readonly string[] {
  if (artifacts.length === 0) return ['No artifacts.'];
  const rows = artifacts.map(({ id, kind, node_id, path, meta }) => [
    printable(id),
    printable(kind),
    printable(node_id),
    typeof meta['bytes'] === 'number' ? bytes(meta['bytes']) : '',
    printable(path),
  ]);
  return table(['ID', 'KIND', 'NODE', 'SIZE', 'PATH'], rows);
}

export interface MetricPointView {
  readonly node_id: string;
  readonly name: string;
  readonly step: number;
  readonly value: number | null;
}

/** One line for each series: how often, from where to where. */
export function metricTable(points: readonly MetricPointView[]): readonly string[] {
  const series = new Map<string, MetricPointView[]>();
  for (const point of points) {
    const key = `${point.node_id}\0${point.name}`;
    const known = series.get(key);
    if (known) known.push(point);
    else series.set(key, [point]);
  }
  if (series.size === 0) return ['No metrics.'];
  const rows = [...series.values()].map((all) => {
    const values = all.flatMap(({ value }) => (value === null ? [] : [value]));
    const last = all.at(-1)!;
    return [
      printable(last.name),
      printable(last.node_id),
      String(all.length),
      last.value === null ? '-' : short(last.value),
      ...[least, most].map((pick) => (values.length === 0 ? '-' : short(values.reduce(pick)))),
      String(last.step),
    ];
  });
  return table(['METRIC', 'NODE', 'POINTS', 'LAST', 'MIN', 'MAX', 'STEP'], rows);
}

const least = (a: number, b: number): number => Math.min(a, b);
const most = (a: number, b: number): number => Math.max(a, b);

import type { Schema } from '@cdui/api-client';
import type { Style } from '../graph-run/style';
import { cut, printable, table } from '../terminal/table';
import { ago, bytes, shortId } from '../terminal/units';

export type Worker = Schema<'WorkerRowDto'>;
export type WorkerList = Schema<'WorkerListDto'>;

const MAX_TYPES = 8;

/** Workers as a table. Pure: `now` is the time, in milliseconds since the epoch. */
export function workerTable({ workers, rejected }: WorkerList, now: number, style: Style): readonly string[] {
  const refused = rejected.map(({ name, reason }) =>
    style.dim(`Rejected: ${printable(name)}, because ${printable(reason)}`),
  );
  if (workers.length === 0) return ['No workers: "cdui agent start" starts one.', ...refused];
  const rows = workers.map((worker) => [
    printable(worker.name),
    stateOf(worker, style),
    worker.devices.map(({ device, slots }) => `${device} ${slots.used}/${slots.limit}`).join(', ') || '-',
    String(worker.running.length),
    worker.last_seen_at === null ? '-' : ago(worker.last_seen_at, now),
    printable(worker.version ?? '-'),
    printable(worker.address ?? '-'),
  ]);
  return [...table(['NAME', 'STATUS', 'DEVICES (USED/SLOTS)', 'RUNS', 'SEEN', 'VERSION', 'ADDRESS'], rows), ...refused];
}

/** One worker with all that it said of itself. */
export function workerLines(worker: Worker, now: number, style: Style): readonly string[] {
  const row = (title: string, text: string | null): string[] =>
    text === null || text === '' ? [] : [`  ${title.padEnd(12)} ${text}`];
  return [
    `${style.strong(printable(worker.name))}  ${stateOf(worker, style)}`,
    ...row('address', worker.address && printable(worker.address)),
    ...row('connected', worker.connected_at && `${worker.connected_at} (${ago(worker.connected_at, now)} ago)`),
    ...row('last seen', worker.last_seen_at && `${worker.last_seen_at} (${ago(worker.last_seen_at, now)} ago)`),
    ...row('version', worker.version && `${printable(worker.version)} on ${printable(worker.platform ?? '')}`),
    ...row('rejected', worker.last_reject && printable(worker.last_reject.reason)),
    ...row('lacks', types(worker.missing_types)),
    ...row('has more', types(worker.extra_types)),
    ...row('differs in', types(worker.changed_types)),
    ...row('mounts', worker.mounts.map(printable).join(', ')),
    ...row('runs', worker.running.map(shortId).join(', ') || 'none'),
    '',
    ...deviceTable(worker),
  ];
}

/** What draining a worker, or the opposite, came to. */
export function drainLines({ name, draining, running }: Worker): readonly string[] {
  const who = printable(name);
  if (!draining) return [`${who} takes new runs.`];
  const runs = running.length === 1 ? '1 run goes' : `${running.length} runs go`;
  const there = running.length === 0 ? 'No run is left there' : `${runs} on there: ${running.map(shortId).join(', ')}`;
  return [`${who} takes no new runs. ${there}.`];
}

function deviceTable({ devices }: Worker): readonly string[] {
  if (devices.length === 0) return ['It offers no devices.'];
  const rows = devices.map(({ device, name, slots, free_bytes: free, total_bytes: total, utilization }) => [
    printable(device),
    `${slots.used}/${slots.limit}`,
    total === null ? '-' : `${free === null ? '?' : bytes(free)} of ${bytes(total)}`,
    utilization === null ? '-' : `${Math.round(utilization)} %`,
    cut(name, 40),
  ]);
  return table(['DEVICE', 'SLOTS', 'FREE MEMORY', 'BUSY', 'NAME'], rows);
}

function stateOf({ status, draining, degraded }: Worker, style: Style): string {
  const word = status === 'online' ? style.good(status) : style.bad(status);
  return [word, ...(draining ? ['draining'] : []), ...(degraded ? ['degraded'] : [])].join(', ');
}

function types(names: readonly string[]): string {
  const more = names.length > MAX_TYPES ? ` and ${names.length - MAX_TYPES} more` : '';
  return names.slice(0, MAX_TYPES).map(printable).join(', ') + more;
}

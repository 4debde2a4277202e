import type { Style } from '../graph-run/style';
import { duration } from '../graph-run/summary';
import { cut, table } from '../terminal/table';
import { ago, bytes, shortId } from '../terminal/units';
import type { Status } from './status';

/** The status as lines of text. Pure: `now` is the time, in milliseconds since the epoch. */
export function statusLines(status: Status, now: number, style: Style): readonly string[] {
  return [...serverLines(status, style), ...machineLines(status), ...runLines(status, now, style)];
}

function serverLines(status: Status, style: Style): readonly string[] {
  const { state, folder, url, pid, version, uptime_s, log, nodes_loaded, presets_loaded, broken_nodes } = status;
  if (state === 'stopped') {
    return [`${style.bad('stopped')}  no server runs on ${folder}: start one with "cdui start"`];
  }
  const word = {
    running: style.good('running'),
    starting: style.warn('starting'),
    unresponsive: `${style.bad('unresponsive')}  it has the folder and does not answer: "cdui stop" ends it`,
    stopping: style.warn('stopping'),
  }[state];
  const facts: readonly (readonly [string, string | null])[] = [
    ['address', url],
    ['process', pid === null ? null : `${pid}${uptime_s === null ? '' : `, up ${duration(uptime_s)}`}`],
    ['version', version],
    ['catalogue', nodes_loaded === null ? null : `${nodes_loaded} nodes, ${presets_loaded ?? 0} presets`],
    [
      'broken',
      broken_nodes
        ? style.warn(`${broken_nodes} custom node ${broken_nodes === 1 ? 'file' : 'files'}: see the log`)
        : null,
    ],
    ['uses', useOf(status)],
    ['folder', folder],
    ['log', log],
  ];
  return [word, ...facts.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(10)} ${value}`]))];
}

function useOf({ cpu_percent, memory_bytes, threads }: Status): string | null {
  const parts = [
    ...(cpu_percent === null ? [] : [`CPU ${cpu_percent.toFixed(0)} %`]),
    ...(memory_bytes === null ? [] : [`memory ${bytes(memory_bytes)}`]),
    ...(threads === null ? [] : [`${threads} threads`]),
  ];
  return parts.length > 0 ? parts.join(', ') : null;
}

function machineLines({ machine }: Status): readonly string[] {
  const { cpus, load, memory_bytes, memory_free_bytes, disk_bytes, disk_free_bytes } = machine;
  const parts = [
    `${cpus} CPUs, load ${load.toFixed(2)}`,
    `memory ${bytes(memory_free_bytes)} of ${bytes(memory_bytes)} free`,
    ...(disk_bytes === null || disk_free_bytes === null
      ? []
      : [`disk ${bytes(disk_free_bytes)} of ${bytes(disk_bytes)} free`]),
  ];
  return [`  ${'machine'.padEnd(10)} ${parts.join('; ')}`];
}

function runLines({ state, runs }: Status, now: number, style: Style): readonly string[] {
  if (state !== 'running' && state !== 'stopping') return [];
  if (runs === null) return ['', 'the runs cannot be read'];
  const { running, queued, shown } = runs;
  const heading = `${style.strong('Runs')}  ${running} running, ${queued} queued`;
  if (shown.length === 0) return ['', heading];
  const rows = shown.map((run) => [
    shortId(run.id),
    run.status,
    run.queue_key,
    ago(run.started_at ?? run.created_at, now),
    cut(run.name, 48),
  ]);
  return ['', heading, ...table(['ID', 'STATUS', 'DEVICE', 'FOR', 'NAME'], rows).map((line) => `  ${line}`)];
}

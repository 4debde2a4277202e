import type { Style } from '../graph-run/style';
import { ago, shortId } from '../terminal/units';
import type { FoundAgent } from './find-agent';

/** An agent as lines of text. Pure: `now` is the time, in milliseconds since the epoch. */
export function agentLines({ name, pid, folder, report }: FoundAgent, now: number, style: Style): readonly string[] {
  if (report === null) return [`${style.name(name)}  ${style.warn('starting')}  (process ${pid})`];
  const { connected, stopping, draining, since, reason, refuses, running, devices } = report;
  const word = stopping ? 'stopping' : draining ? 'draining' : connected ? 'connected' : 'not connected';
  const shown = connected && !stopping && !draining ? style.good(word) : style.warn(word);
  const facts: readonly (readonly [string, string | null])[] = [
    ['since', since === null ? null : ago(new Date(since).toISOString(), now)],
    ['because', connected ? null : reason],
    ['refuses', refuses],
    ['server', report.control ?? 'the one that has the folder'],
    ['process', `${pid}, up ${ago(report.started_at, now)}`],
    ['version', report.version],
    ['offers', devices.join(', ') || 'nothing'],
    ['runs', running.length === 0 ? 'none' : running.map(shortId).join(', ')],
    ['folder', folder],
  ];
  return [
    `${style.name(name)}  ${shown}`,
    ...facts.flatMap(([fact, value]) => (value === null ? [] : [`  ${fact.padEnd(9)} ${value}`])),
  ];
}

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures, Report } from './figures';
import { Fleet } from './fleet-process';
import { ServerProcess } from './server-process';

const WORKERS = 10_000;
const PROCESSES = 4;
/** Heartbeats come every 10 s; two rounds of them are looked at. */
const WATCH_MS = 20_000;
/** Of `/proc/PID/stat`, per second. */
const TICKS = 100;

/** What workers that are merely there cost the server: memory for each, a share of one core, and how long all of them take to connect. */
export async function benchIdle(report: Report): Promise<Figures> {
  const server = await ServerProcess.start();
  const fleet = Array.from({ length: PROCESSES }, (_, index) => new Fleet(server, index, WORKERS / PROCESSES));
  try {
    await sleep(2_000);
    const before = residentKb(server.pid);
    const begun = Date.now();
    await Promise.all(fleet.map((part) => part.ask(`dial ${begun}`)));
    const seconds = (Date.now() - begun) / 1000;
    await sleep(WATCH_MS / 2);
    const cpuBefore = cpuSeconds(server.pid);
    await sleep(WATCH_MS);
    const share = ((cpuSeconds(server.pid) - cpuBefore) * 1000) / WATCH_MS;
    const each = (residentKb(server.pid) - before) / WORKERS;
    report(
      `${WORKERS} workers: ${each.toFixed(1)} kB each, ${share.toFixed(3)} of a core, connected in ${seconds.toFixed(2)} s`,
    );
    return { 'idle.kb_each': each, 'idle.cpu_share': share, 'idle.connect_s': seconds };
  } finally {
    fleet.forEach((part) => part.end());
    await server.kill();
  }
}

function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

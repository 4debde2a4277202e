import { Counter, Gauge, type Registry } from 'prom-client';
import type { WorkerRegistry } from '../workers/worker-registry';

/** What the server says to Prometheus about its workers. */
export function addWorkerMetrics(registry: Registry, workers: WorkerRegistry): void {
  const registers = [registry];
  new Gauge({
    name: 'codefyui_workers',
    help: 'Workers that are known, by status',
    labelNames: ['status'],
    registers,
    collect() {
      const counts = { online: 0, offline: 0, disconnected: 0 };
      for (const { status } of workers.list()) counts[status] += 1;
      for (const [status, count] of Object.entries(counts)) this.set({ status }, count);
    },
  });
  new Gauge({
    name: 'codefyui_workers_draining',
    help: 'Workers that take no new runs',
    registers,
    collect() {
      this.set(workers.list().filter(({ draining }) => draining).length);
    },
  });
  new Gauge({
    name: 'codefyui_worker_runs',
    help: 'Runs that workers have, those that are away included',
    registers,
    collect() {
      this.set(workers.list().reduce((sum, { runs }) => sum + runs.size, 0));
    },
  });
  const counters = [
    ['codefyui_worker_frames_total', 'Frames that workers sent and that were taken in', () => workers.counts.frames],
    [
      'codefyui_worker_frames_refused_total',
      'Frames about runs that were not their sender’s',
      () => workers.strays.refused,
    ],
    ['codefyui_worker_acks_total', 'Acknowledgements that were sent to workers', () => workers.counts.acks],
    [
      'codefyui_worker_reconnects_total',
      'Connections of workers that had been connected before',
      () => workers.counts.reconnects,
    ],
  ] as const;
  for (const [name, help, count] of counters) {
    let told = 0;
    new Counter({
      name,
      help,
      registers,
      collect() {
        const now = count();
        this.inc(now - told);
        told = now;
      },
    });
  }
}

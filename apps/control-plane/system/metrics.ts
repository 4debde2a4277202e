import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { RunStore } from '@cdui/execution';
import { RUN_STATUSES } from '@cdui/protocol';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CommitTimes } from '../database/commit-times';
import { EventLog } from '../events/event-log';
import { ExecutionSocket } from '../execution-socket/execution-socket';
import { RunService } from '../runs/run-service';
import { RUN_STORE } from '../tokens';
import { WorkerRegistry } from '../workers/worker-registry';
import { addWorkerMetrics } from './worker-metrics';

/** A commit takes a disk's flush: a tenth of a millisecond on a good one, seconds on one in trouble. */
const COMMIT_BUCKETS = [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** What the server says about itself to Prometheus. */
@Injectable()
export class Metrics implements OnModuleDestroy {
  private readonly registry = new Registry();

  constructor(
    @Inject(RunService) runs: RunService,
    @Inject(RUN_STORE) store: RunStore,
    @Inject(EventLog) log: EventLog,
    @Inject(ExecutionSocket) sockets: ExecutionSocket,
    @Inject(CommitTimes) times: CommitTimes,
    @Inject(WorkerRegistry) workers: WorkerRegistry,
  ) {
    const registers = [this.registry];
    // Event-loop delay, memory, processor time, garbage collection.
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'codefyui_queue_depth',
      help: 'Runs that wait, by queue key',
      labelNames: ['queue_key'],
      registers,
      collect() {
        this.reset();
        for (const [queueKey, depth] of runs.queueDepths) this.set({ queue_key: queueKey }, depth);
      },
    });
    new Gauge({
      name: 'codefyui_runs',
      help: 'Runs that are stored, by status',
      labelNames: ['status'],
      registers,
      async collect() {
        const counts = await store.countByStatus();
        for (const status of RUN_STATUSES) this.set({ status }, counts[status] ?? 0);
      },
    });
    new Gauge({
      name: 'codefyui_runs_active',
      help: 'Runs that the server works on',
      registers,
      collect() {
        this.set(runs.activeCount);
      },
    });
    let counted = 0;
    new Counter({
      name: 'codefyui_events_total',
      help: 'Events that were made durable since the start',
      registers,
      collect() {
        this.inc(log.recorded - counted);
        counted = log.recorded;
      },
    });
    new Gauge({
      name: 'codefyui_execution_sockets',
      help: 'Open sockets of /ws/execution',
      registers,
      collect() {
        this.set(sockets.count);
      },
    });
    new Gauge({
      name: 'codefyui_execution_socket_buffered_bytes',
      help: 'Bytes that wait for clients that read slowly',
      registers,
      collect() {
        this.set(sockets.bufferedBytes);
      },
    });
    const commits = new Histogram({
      name: 'codefyui_commit_seconds',
      help: 'How long commits of the database take',
      buckets: COMMIT_BUCKETS,
      registers,
    });
    addWorkerMetrics(this.registry, workers);
    times.observe = (ms) => commits.observe(ms / 1000);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  onModuleDestroy(): void {
    this.registry.clear();
  }
}

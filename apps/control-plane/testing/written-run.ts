import type { RunStore } from '@cdui/execution';
import type { TestServer } from './test-server';
import { EventLog, type RunRecorder } from '../events/event-log';
import { RUN_STORE } from '../tokens';

/** A run whose events a test writes itself, into the real log of a real server. */
export class WrittenRun {
  private constructor(
    private readonly server: TestServer,
    readonly id: string,
    readonly recorder: RunRecorder,
  ) {}

  static async begin(server: TestServer, id: string): Promise<WrittenRun> {
    const store = server.server.app.get<RunStore>(RUN_STORE);
    const now = Date.now();
    const graph = '{"nodes":[],"edges":[]}';
    await store.insert({
      id,
      name: id,
      lane: 'queued',
      graph,
      options: {},
      queueKey: 'cpu',
      queueSeq: now,
      createdAt: now,
    });
    await store.start(id, { at: now, workerId: null, devices: ['cpu'] });
    const log = server.server.app.get(EventLog);
    const recorder = await log.open({
      runId: id,
      startedAt: now,
      onFailed: () => undefined,
      onStarted: () => undefined,
    });
    recorder.recordStart();
    return new WrittenRun(server, id, recorder);
  }

  /** Reports texts of a length, as fast as the log takes them in. */
  async texts(count: number, length: number): Promise<void> {
    const text = 'x'.repeat(length);
    for (let index = 0; index < count; index++) {
      const payload = { node_id: 'n', status: 'running' as const, outputs: [{ output_kind: 'text' as const, text }] };
      if (!this.recorder.emit({ type: 'node_status', payload }, index)) await this.recorder.drained();
    }
    await this.recorder.drained();
  }

  async end(): Promise<void> {
    await this.recorder.close();
    const store = this.server.server.app.get<RunStore>(RUN_STORE);
    const event = { type: 'execution_complete', payload: null } as const;
    const end = { status: 'succeeded', error: null, reason: null, event, facts: null } as const;
    const cursor = await store.end(this.id, ['running'], end, Date.now());
    this.server.server.app.get(EventLog).publishEnd(this.id, cursor!, event, Date.now());
  }
}

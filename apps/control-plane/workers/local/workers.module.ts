import { createHash } from 'node:crypto';
import { Global, Logger, Module } from '@nestjs/common';
import type { Clock, RunStore } from '@cdui/execution';
import { machineId } from '@cdui/host/machine-id';
import { canonicalJson } from '@cdui/protocol';
import { version } from '../../config/version';
import { SETTINGS, type Settings } from '../../config/settings';
import { ConsoleLogs } from '../../events/console-logs';
import { CLOCK, RUN_STORE, WORKER_STORE } from '../../tokens';
import { WorkerRegistry } from '../worker-registry';
import type { WorkerStore } from '../world';
import { ServerNodeTypes } from './server-node-types';

/** How long a run on a worker may go on when it was asked to stop. */
const CANCEL_GRACE_S = 30;

/** The workers of this server. */
@Global()
@Module({
  providers: [
    ServerNodeTypes,
    {
      provide: WorkerRegistry,
      inject: [SETTINGS, RUN_STORE, WORKER_STORE, CLOCK, ConsoleLogs, ServerNodeTypes],
      useFactory: makeRegistry,
    },
  ],
  exports: [WorkerRegistry],
})
export class WorkersModule {}

async function makeRegistry(
  settings: Settings,
  store: RunStore,
  workers: WorkerStore,
  clock: Clock,
  consoles: ConsoleLogs,
  nodeTypes: ServerNodeTypes,
): Promise<WorkerRegistry> {
  const logger = new Logger('workers');
  return new WorkerRegistry({
    clock,
    store,
    workers,
    limits: {
      heartbeatMs: settings.workerHeartbeatS * 1000,
      assignTimeoutMs: settings.workerAssignTimeoutS * 1000,
      resumeGraceMs: settings.workerResumeGraceS * 1000,
      cancelGraceS: CANCEL_GRACE_S,
      payloadCapBytes: settings.runEventPayloadCapBytes,
      maxParallelNodes: settings.maxParallelNodes,
    },
    machineId: await machineId(),
    version: version(),
    nodeTypes: () => nodeTypes.hashes,
    fingerprint: (document) => {
      const text = canonicalJson(document);
      return { digest: createHash('sha256').update(text).digest('hex'), document: text };
    },
    printed: async (runId) => (await consoles.read(runId, 0, 0)).size,
    log: (level, msg, params) => (level === 'warn' ? logger.warn({ msg, ...params }) : logger.log({ msg, ...params })),
    report: (msg, error) => logger.error({ msg, error: error instanceof Error ? error.stack : String(error) }),
  });
}

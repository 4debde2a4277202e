import { join } from 'node:path';
import {
  Global,
  Inject,
  Injectable,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { Clock, EventStore, Ids, RunStore } from '@cdui/execution';
import { OUTPUTS_FOLDER, OutputStore } from '@cdui/outputs';
import { InProcessExecutor } from '@cdui/run-host/client';
import { parseOverrides } from '@cdui/scheduling';
import { CatalogClient } from '../../catalog-thread/catalog.client';
import { SETTINGS, type Settings } from '../../config/settings';
import { DatabaseModule } from '../../database/database.module';
import { ConsoleLogs } from '../../events/console-logs';
import { EventLog } from '../../events/event-log';
import { EventsModule } from '../../events/events.module';
import { Boot } from '../../system/boot';
import { CLOCK, EVENT_STORE, EXECUTOR, IDS, RUN_STORE } from '../../tokens';
import { CanvasSessionService } from '../canvas-session';
import { CatalogDesk } from './catalog-desk';
import { LocalMachine } from './local-machine';
import { LocalRunFiles } from './local-run-files';
import { RunNotes } from './run-notes';
import { WorkerRegistry } from '../../workers/worker-registry';
import { RunService } from '../run-service';
import { CanvasSessions, Runs } from '../runs';

/** How long running runs may take to stop when the server does. In milliseconds. */
const STOP_GRACE_MS = 5_000;
/** What a run that does not stop needs to be ended, on top. */
const FORCE_MS = 500;
/** How long the last step of a runtime may take after that. */
const LAST_STEP_MS = 3_000;

/** Begins with what an earlier server left, and ends with nothing running. */
@Injectable()
export class RunsLifetime implements OnApplicationBootstrap, OnModuleDestroy {
  /** Runs and steps that went on when their time was over: a thread that computes must not be ended with the process. */
  unfinished = 0;

  constructor(
    @Inject(RunService) private readonly runs: RunService,
    @Inject(EXECUTOR) private readonly executor: InProcessExecutor,
    @Inject(WorkerRegistry) private readonly workers: WorkerRegistry,
    @Inject(Boot) private readonly boot: Boot,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.workers.load();
    await this.runs.recover();
    // What an earlier server was about to record; nothing records yet.
    await new OutputStore(join(this.settings.userDataDir, 'data', OUTPUTS_FOLDER)).sweep();
  }

  /** Comes before everything else is told that the server stops: what runs report must still find its way into the log. */
  async onModuleDestroy(): Promise<void> {
    this.boot.stopping = true;
    this.unfinished = await this.runs.shutdown(STOP_GRACE_MS + FORCE_MS);
    // Runs on workers go on, and are taken over by the next server: what they have said so far is kept.
    this.workers.close();
    await this.runs.untilStored();
    // A run that was ended by force may leave a step behind that its runtime has to finish.
    if (this.unfinished === 0 && !(await isOver(this.executor.close(), LAST_STEP_MS))) this.unfinished = 1;
  }
}

/** The runs of this server. */
@Global()
@Module({
  imports: [DatabaseModule, EventsModule],
  providers: [
    {
      provide: EXECUTOR,
      inject: [SETTINGS],
      useFactory: ({ customNodesDir, presetsDir }: Settings) =>
        new InProcessExecutor({
          ...{ spare: true, customNodes: customNodesDir, presets: presetsDir },
          graceMs: STOP_GRACE_MS,
        }),
    },
    {
      provide: RunService,
      inject: [
        SETTINGS,
        RUN_STORE,
        EVENT_STORE,
        EventLog,
        ConsoleLogs,
        EXECUTOR,
        CLOCK,
        IDS,
        CatalogClient,
        WorkerRegistry,
      ],
      useFactory: makeRunService,
    },
    { provide: Runs, useExisting: RunService },
    {
      provide: CanvasSessions,
      inject: [RunService, EXECUTOR],
      useFactory: (runs: RunService, executor: InProcessExecutor) =>
        new CanvasSessionService(runs, () => executor.session()),
    },
    RunsLifetime,
    RunNotes,
  ],
  exports: [Runs, CanvasSessions, RunService, EXECUTOR, RunsLifetime],
})
export class RunsModule {}

/** Waits that long. @returns whether it was enough */
async function isOver(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const over = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return over;
}

function makeRunService(
  settings: Settings,
  store: RunStore,
  events: EventStore,
  log: EventLog,
  consoleLogs: ConsoleLogs,
  executor: InProcessExecutor,
  clock: Clock,
  ids: Ids,
  catalog: CatalogClient,
  workers: WorkerRegistry,
): RunService {
  const logger = new Logger('runs');
  parseOverrides(settings.runQueueMaxConcurrent, (item) =>
    logger.warn(
      `CODEFYUI_RUN_QUEUE_MAX_CONCURRENT: "${item.slice(0, 100)}" is ignored: the form is DEVICE=NUMBER or WORKER/DEVICE=NUMBER, such as cuda:0=2`,
    ),
  );
  return new RunService({
    store,
    events,
    log,
    executor,
    clock,
    ids,
    graphs: new CatalogDesk(catalog),
    machine: new LocalMachine(settings.customNodesDir),
    workers,
    files: new LocalRunFiles(settings, consoleLogs),
    limits: {
      slots: {
        gpu: settings.runQueueMaxConcurrentGpu,
        cpu: settings.runQueueMaxConcurrentCpu,
        overrides: settings.runQueueMaxConcurrent,
      },
      interactive: settings.runInteractiveMaxConcurrent,
      keepLast: settings.runRetentionKeepLast,
      resumeGraceMs: settings.workerResumeGraceS * 1000,
    },
    report: (what, error) => logger.error({ msg: what, error: error instanceof Error ? error.stack : String(error) }),
  });
}

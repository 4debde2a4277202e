import { homedir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@cdui/protocol';
import { SettingsReader } from '@cdui/host/settings-reader';
import { hostIn, originIn } from './settings-names';

/** Settings of the control plane, read once at start from `CODEFYUI_*` variables. Folders are absolute; sizes are bytes unless they say otherwise. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Origins of pages that are served elsewhere and may use this server. */
  readonly corsOrigins: readonly string[];
  /** `host[:port]` values a request may carry besides this machine's own. */
  readonly extraAllowedHosts: readonly string[];
  readonly maxRunBodyBytes: number;
  readonly wsMaxMessageBytes: number;

  /** Holds everything this server keeps: `data/`, token and log files. */
  readonly userDataDir: string;
  readonly dbPath: string;
  readonly graphsDir: string;
  readonly modelsDir: string;
  readonly imagesDir: string;
  readonly dataFilesDir: string;
  readonly examplesDir: string | null;
  readonly presetsDir: string;
  readonly customNodesDir: string;

  readonly maxParallelNodes: number;
  readonly executionCacheMaxBytes: number;
  readonly nodeStateStoreMaxBytes: number;
  readonly runOutputStoreMaxBytes: number;

  /** Runs that one slot admits at once: an accelerator, the processor, and single slots by name. */
  readonly runQueueMaxConcurrentGpu: number;
  readonly runQueueMaxConcurrentCpu: number;
  readonly runQueueMaxConcurrent: string;
  readonly runInteractiveMaxConcurrent: number;
  /** Ended runs that are kept; negative: all of them. */
  readonly runRetentionKeepLast: number;

  /** How often a connected worker reports; without a word for three times as long its connection is ended. In seconds. */
  readonly workerHeartbeatS: number;
  /** How long a worker may take to answer an assignment. In seconds. */
  readonly workerAssignTimeoutS: number;
  /** How long the runs of a worker that went away are kept for it. In seconds. */
  readonly workerResumeGraceS: number;

  readonly runEventPayloadCapBytes: number;
  readonly runEventsResponseCapBytes: number;
  readonly runLogMaxBytes: number;

  readonly logLevel: LogLevel;
  readonly logJson: boolean;
  readonly debug: boolean;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const SETTINGS = Symbol('SETTINGS');

const MIB = 1024 * 1024;

/**
 * @param programExamples the program's own example graphs; null where they are not installed
 * @throws CodedError `invalid_settings` that names every bad variable at once, with its value and what it accepts
 */
export function readSettings(
  env: Readonly<Record<string, string | undefined>>,
  programExamples: string | null = null,
): Settings {
  const read = new SettingsReader(env);
  const userDataDir = read.folder('USER_DATA_DIR', join(homedir(), '.codefyui'));
  const data = join(userDataDir, 'data');
  const maxRunBodyBytes = read.whole('MAX_RUN_BODY_BYTES', 64 * MIB, { min: 1024 });
  const settings: Settings = {
    host: read.matching('HOST', '127.0.0.1', /^[^\s/]+$/, 'an address or host name, such as 127.0.0.1'),
    port: read.whole('PORT', 8000, { min: 0, max: 65_535 }),
    corsOrigins: read.list(
      'CORS_ORIGINS',
      ['http://localhost:5173', 'http://localhost:5174', 'http://localhost:3000'],
      originIn,
      'origins of pages, such as http://localhost:5173',
    ),
    extraAllowedHosts: read.list(
      'EXTRA_ALLOWED_HOSTS',
      [],
      hostIn,
      'values of the Host header, such as gpu.example.org or gpu.example.org:8443',
    ),
    maxRunBodyBytes,
    wsMaxMessageBytes: read.whole('WS_MAX_MESSAGE_BYTES', maxRunBodyBytes, { min: 1024 }),
    userDataDir,
    dbPath: read.file('DB_PATH', join(data, 'codefyui.db')),
    graphsDir: read.folder('GRAPHS_DIR', join(data, 'graphs')),
    modelsDir: read.folder('MODELS_DIR', join(data, 'models')),
    imagesDir: read.folder('IMAGES_DIR', join(data, 'images')),
    dataFilesDir: read.folder('DATA_FILES_DIR', join(data, 'files')),
    examplesDir: read.existingFolder('EXAMPLES_DIR', programExamples),
    presetsDir: read.folder('PRESETS_DIR', join(data, 'presets')),
    customNodesDir: read.folder('CUSTOM_NODES_DIR', join(data, 'custom_nodes')),
    maxParallelNodes: read.whole('MAX_PARALLEL_NODES', 4, { min: 1, max: 256 }),
    executionCacheMaxBytes: read.whole('EXECUTION_CACHE_MAX_MB', 1024, { min: 1 }) * MIB,
    nodeStateStoreMaxBytes: read.whole('NODE_STATE_STORE_MAX_MB', 1024, { min: 1 }) * MIB,
    runOutputStoreMaxBytes: read.whole('RUN_OUTPUT_STORE_MAX_MB', 2048, { min: 1 }) * MIB,
    runQueueMaxConcurrentGpu: read.whole('RUN_QUEUE_MAX_CONCURRENT_GPU', 1, { min: 1 }),
    runQueueMaxConcurrentCpu: read.whole('RUN_QUEUE_MAX_CONCURRENT_CPU', 2, { min: 1 }),
    runQueueMaxConcurrent: read.given('RUN_QUEUE_MAX_CONCURRENT') ?? '',
    runInteractiveMaxConcurrent: read.whole('RUN_INTERACTIVE_MAX_CONCURRENT', 2, { min: 1 }),
    runRetentionKeepLast: read.whole('RUN_RETENTION_KEEP_LAST', 200, { min: -1_000_000 }),
    workerHeartbeatS: read.whole('WORKER_HEARTBEAT_S', 10, { min: 1, max: 3600 }),
    workerAssignTimeoutS: read.whole('WORKER_ASSIGN_TIMEOUT_S', 30, { min: 1, max: 3600 }),
    workerResumeGraceS: read.whole('WORKER_RESUME_GRACE_S', 300, { min: 0, max: 2_000_000 }),
    runEventPayloadCapBytes: read.whole('RUN_EVENT_PAYLOAD_CAP_BYTES', 131_072, { min: 512 }),
    runEventsResponseCapBytes: read.whole('RUN_EVENTS_RESPONSE_CAP_BYTES', 4 * MIB, { min: 1024 }),
    runLogMaxBytes: read.whole('RUN_LOG_MAX_MB', 64, { min: 1 }) * MIB,
    logLevel: read.oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
    logJson: read.truth('LOG_JSON', false),
    debug: read.truth('DEBUG', false),
  };
  read.absent(
    'LOG_DIR',
    'the log goes to standard output, with "cdui start" to server.log in CODEFYUI_USER_DATA_DIR. Unset it',
  );
  if (read.problems.length > 0) {
    throw new CodedError('invalid_settings', read.problems.join('\n'), { problems: read.problems });
  }
  return settings;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { RunList, RunRow } from '@cdui/protocol';
import { healthOf } from './health';
import { cpuPercent, machineFacts, type MachineFacts, type ProcessSample, sampleProcess, uptimeOf } from './machine';
import { findServer, serverFile } from './server-files';

/** A run as the status shows it. */
export type StatusRun = Pick<RunRow, 'id' | 'name' | 'status' | 'queue_key' | 'created_at' | 'started_at'>;

/** Everything that `cdui status` knows; with `--json` this document. */
export interface Status {
  /**
   * `stopped`: no server has the folder. `starting`: one has, and has not answered yet. `unresponsive`: it did answer, and does not now. `stopping`:
   * it is about to end.
   */
  readonly state: 'stopped' | 'starting' | 'running' | 'unresponsive' | 'stopping';
  readonly folder: string;
  readonly url: string | null;
  readonly pid: number | null;
  readonly version: string | null;
  readonly boot_id: string | null;
  readonly uptime_s: number | null;
  readonly log: string;
  readonly nodes_loaded: number | null;
  readonly presets_loaded: number | null;
  /** Custom node files that cannot be used. */
  readonly broken_nodes: number | null;
  /** Of one processor, since the last look. */
  readonly cpu_percent: number | null;
  readonly memory_bytes: number | null;
  readonly threads: number | null;
  readonly runs: { readonly running: number; readonly queued: number; readonly shown: readonly StatusRun[] } | null;
  readonly machine: MachineFacts;
}

const FIRST_LOOK_MS = 200;
const SHOWN_RUNS = 10;

/** Looks at the server of a folder again and again. */
export class StatusReader {
  private last: { readonly pid: number; readonly sample: ProcessSample } | null = null;

  constructor(private readonly folder: string) {}

  async read(): Promise<Status> {
    const [server, machine] = await Promise.all([findServer(this.folder), machineFacts(this.folder)]);
    const none = {
      folder: this.folder,
      log: serverFile.log(this.folder),
      machine,
      url: null,
      pid: server?.pid || null,
      version: null,
      boot_id: null,
      uptime_s: uptimeOf(server?.started ?? null),
      nodes_loaded: null,
      presets_loaded: null,
      broken_nodes: null,
      cpu_percent: null,
      memory_bytes: null,
      threads: null,
      runs: null,
    };
    if (server === null) return { state: 'stopped', ...none };
    const url = server.address?.url ?? null;
    const [health, runs, use] = await Promise.all([
      url === null ? null : healthOf(url),
      url === null ? null : activeRuns(url),
      this.use(server.pid),
    ]);
    if (health === null) {
      const state = server.stopping ? 'stopping' : url === null ? 'starting' : 'unresponsive';
      return { state, ...none, url, ...use };
    }
    return {
      state: server.stopping || health.status === 'stopping' ? 'stopping' : 'running',
      ...none,
      ...use,
      url,
      version: health.version,
      boot_id: health.boot_id,
      nodes_loaded: health.nodes_loaded ?? null,
      presets_loaded: health.presets_loaded ?? null,
      broken_nodes: health.broken_nodes ?? null,
      runs,
    };
  }

  private async use(pid: number): Promise<Pick<Status, 'cpu_percent' | 'memory_bytes' | 'threads'>> {
    let before = this.last?.pid === pid ? this.last.sample : null;
    if (before === null) {
      before = sampleProcess(pid);
      if (before !== null) await sleep(FIRST_LOOK_MS);
    }
    const now = sampleProcess(pid);
    this.last = now && { pid, sample: now };
    return {
      cpu_percent: cpuPercent(before, now),
      memory_bytes: now?.rssBytes ?? null,
      threads: now?.threads ?? null,
    };
  }
}

async function activeRuns(url: string): Promise<Status['runs']> {
  try {
    const [running, queued] = await Promise.all([
      list(url, 'status=running&status=disconnected'),
      list(url, 'status=queued&order=asc'),
    ]);
    return {
      running: running.total,
      queued: queued.total,
      shown: [...running.runs, ...queued.runs].slice(0, SHOWN_RUNS).map(shown),
    };
  } catch {
    return null;
  }
}

async function list(url: string, query: string): Promise<RunList> {
  const response = await fetch(`${url}/api/runs?${query}&limit=${SHOWN_RUNS}`, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return (await response.json()) as RunList;
}

function shown({ id, name, status, queue_key, created_at, started_at }: RunRow): StatusRun {
  return { id, name, status, queue_key, created_at, started_at };
}

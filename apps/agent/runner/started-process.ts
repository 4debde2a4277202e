import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { Readable } from 'node:stream';
import { entryPath, processStart } from '@cdui/host';
import { ProcessTree, refOf } from '@cdui/host/process-tree';
import type { Environment } from './child-environment';
import { childEnvironment } from './child-environment';
import type { ControlMessage } from './control';
import { CHILD_ENTRY, CONTROL_FD, controlLine, FRAMES_FD } from './control';
import { newCookie, removeCookie, writeCookie } from './cookie-file';
import { endStrays, strays } from './strays';

export const OUTPUT_LOG = 'output.log';

export interface ProcessOptions {
  /** The agent's own. */
  readonly environment: Environment;
  /** Folders of the agent's node files and presets; null where there are none. */
  readonly customNodes: string | null;
  readonly presets: string | null;
  /** Most MiB of JavaScript values in a run's process; default: what V8 grants. */
  readonly heapMb?: number;
}

export type Exit =
  { readonly code: number | null; readonly signal: NodeJS.Signals | null } | { readonly failed: Error };

/** How long one try to kill a tree goes on before it is said that something is left, and tried again. */
const KILL_ROUND_MS = 5_000;

/** The process of a run, or of one to come, with whatever it starts. */
export class StartedProcess {
  /** How it ended, or why it never began. Never rejects. */
  readonly exited: Promise<Exit>;
  /** What it reports, as `PipeReader` reads it. */
  readonly frames: Readable;
  private readonly control: Writable | null;
  private readonly tree: ProcessTree | null;
  private gone = false;

  constructor(
    private readonly child: ChildProcess,
    readonly cookie: string,
  ) {
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit): void => {
        this.gone = true;
        resolve(exit);
      };
      child.once('error', (failed) => end({ failed }));
      child.once('exit', (code, signal) => end({ code, signal }));
    });
    strays.spawned(child);
    // A process that could not be started has no pipes when it is for want of files.
    const stdio: readonly unknown[] = child.stdio ?? [];
    this.frames = (stdio[FRAMES_FD] as Readable | undefined) ?? Readable.from([]);
    this.control = (stdio[CONTROL_FD] as Writable | undefined) ?? null;
    // It ended meanwhile; how, is told by `exited`.
    this.frames.on('error', () => undefined);
    this.control?.on('error', () => undefined);
    this.tree = child.pid === undefined ? null : new ProcessTree(refOf(child.pid), cookie);
  }

  get pid(): number | null {
    return this.child.pid ?? null;
  }

  /** Whether its first process has ended. */
  get ended(): boolean {
    return this.gone;
  }

  send(message: ControlMessage): void {
    this.control?.write(controlLine(message));
  }

  /** Asks the whole tree to end. */
  terminate(): void {
    this.tree?.terminate();
  }

  /** Kills the whole tree. Resolves when nothing of it is left, however long the system takes to end it. */
  async kill(): Promise<void> {
    while (this.tree && (await this.tree.kill(KILL_ROUND_MS)).length > 0);
    if (this.gone) await endStrays();
    this.control?.destroy();
  }
}

/**
 * Starts a process that waits for its run.
 *
 * @param folder where its output and its cookie are kept
 * @throws the system's error when the folder cannot be written
 */
export function startProcess(folder: string, attempt: number | null, options: ProcessOptions): StartedProcess {
  const cookie = newCookie();
  // Before there is a process: one that nobody could find again must never be.
  writeCookie(folder, { cookie, pid: null, start_time: null, attempt });
  let started: StartedProcess | null = null;
  try {
    started = new StartedProcess(spawned(folder, cookie, options), cookie);
    recordProcess(folder, attempt, started);
    return started;
  } catch (error) {
    void started?.kill();
    removeCookie(folder, cookie);
    throw error;
  }
}

function spawned(folder: string, cookie: string, options: ProcessOptions): ChildProcess {
  const { environment, customNodes, presets, heapMb } = options;
  const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const log = openSync(join(folder, OUTPUT_LOG), 'a', 0o600);
  try {
    return spawn(process.execPath, [...flags, entryPath(CHILD_ENTRY)], {
      // It enters the folder of its run when it has one; one that waits for a run has a folder that goes away.
      cwd: dirname(folder),
      detached: true,
      env: childEnvironment(environment, { cookie, customNodes, presets }),
      stdio: ['ignore', log, log, 'pipe', 'pipe'],
    });
  } finally {
    closeSync(log);
  }
}

/** Writes which process a folder belongs to. */
export function recordProcess(folder: string, attempt: number | null, { cookie, pid }: StartedProcess): void {
  const start = pid === null ? null : processStart(pid);
  writeCookie(folder, { cookie, pid, start_time: start, attempt });
}

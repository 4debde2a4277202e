import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AssignFrame, GraphFile } from '@cdui/protocol';
import { Workplace } from '@cdui/run-host/testing/workplace';
import type { LaunchedRun, RunLauncher } from '../launcher';
import type { LauncherOptions } from '../process-launcher';
import { ProcessLauncher, RUNS_FOLDER } from '../process-launcher';
import { CollectingOutlet } from './collecting-outlet';

/** An agent's folder in a temporary place, with custom nodes that a test writes, and runs that are launched there. */
export class AgentPlace {
  readonly folder = mkdtempSync(join(tmpdir(), 'agent-'));
  private readonly workplace: Workplace;

  constructor(customNodes: Readonly<Record<string, string>> = {}) {
    this.workplace = new Workplace(customNodes);
  }

  get folders() {
    return this.workplace.folders;
  }

  /** Writes a custom node, by what its `execute` does. */
  write(name: string, execute: string): void {
    this.workplace.write(name, execute);
  }

  launcher(options: Partial<LauncherOptions> = {}): ProcessLauncher {
    return new ProcessLauncher({
      agentFolder: this.folder,
      environment: process.env,
      customNodes: this.workplace.folders.customNodes,
      presets: null,
      ...options,
    });
  }

  assignment(graph: GraphFile, more: Partial<AssignFrame> = {}): AssignFrame {
    return {
      type: 'assign',
      run_id: 'r1',
      attempt: 1,
      graph,
      options: {},
      device: 'cpu',
      devices: ['cpu'],
      // The agent's own node files count, not those of whoever lends the folders.
      storage: { backend: 'local', folders: { ...this.workplace.folders, customNodes: '/nowhere' } },
      payload_cap_bytes: 131_072,
      max_parallel_nodes: 4,
      ...more,
    };
  }

  /** Launches a run in a folder of its own, as the agent does. */
  launch(
    launcher: RunLauncher,
    graph: GraphFile,
    { outlet = new CollectingOutlet(), ...more }: Partial<AssignFrame> & { readonly outlet?: CollectingOutlet } = {},
  ): { readonly run: LaunchedRun; readonly outlet: CollectingOutlet } {
    const assignment = this.assignment(graph, more);
    const folder = this.runFolder(assignment.run_id);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    return { run: launcher.launch(assignment, outlet), outlet };
  }

  runFolder(runId = 'r1'): string {
    return join(this.folder, RUNS_FOLDER, runId);
  }

  /** What the run printed. */
  output(runId = 'r1'): string {
    return readFileSync(join(this.runFolder(runId), 'output.log'), 'utf8');
  }

  /** Resolves when the run has printed the text. */
  printed(text: string, runId = 'r1'): Promise<void> {
    return seen(this.runFolder(runId), () => {
      const log = join(this.runFolder(runId), 'output.log');
      return existsSync(log) && readFileSync(log, 'utf8').includes(text);
    });
  }

  remove(): void {
    this.workplace.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Resolves when what a folder holds is as asked for. */
export function seen(folder: string, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, () => look());
    const look = (): void => {
      if (!existsSync(folder) || !holds()) return;
      watcher.close();
      resolve();
    };
    look();
  });
}

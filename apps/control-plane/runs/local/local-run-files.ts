import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunFolders } from '@cdui/protocol';
import type { Settings } from '../../config/settings';
import type { ConsoleLogs } from '../../events/console-logs';
import type { RunFiles } from '../world';

/** Checkpoints that a training loop writes as it goes; those of runs that were stopped lie elsewhere, and stay. */
const PERIODIC = 'periodic';

/** The files of runs below the user's data folder. */
export class LocalRunFiles implements RunFiles {
  private readonly data: string;

  constructor(
    private readonly settings: Settings,
    private readonly logs: ConsoleLogs,
  ) {
    this.data = join(settings.userDataDir, 'data');
  }

  folders(runId: string): RunFolders {
    const { settings, data } = this;
    return {
      data,
      models: settings.modelsDir,
      images: settings.imagesDir,
      files: settings.dataFilesDir,
      graphs: settings.graphsDir,
      datasets: join(data, 'datasets'),
      output: this.outputs(runId),
      customNodes: settings.customNodesDir,
      examples: settings.examplesDir,
    };
  }

  async remove(runId: string): Promise<void> {
    const checkpoints = await this.periodicCheckpoints(runId);
    await Promise.all([
      this.logs.delete(runId),
      rm(this.outputs(runId), { recursive: true, force: true }),
      ...checkpoints.map((path) => rm(path, { force: true })),
    ]);
  }

  private outputs(runId: string): string {
    return join(this.data, 'outputs', runId);
  }

  private async periodicCheckpoints(runId: string): Promise<readonly string[]> {
    const folder = join(this.settings.modelsDir, PERIODIC);
    try {
      const names = await readdir(folder);
      return names.filter((name) => name.startsWith(`${runId}-`)).map((name) => join(folder, name));
    } catch {
      // No run ever wrote one.
      return [];
    }
  }
}

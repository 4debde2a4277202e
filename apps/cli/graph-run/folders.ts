import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunFolders } from '@cdui/protocol';

export interface FolderChoices {
  readonly dataDir?: string;
  readonly outputDir?: string;
}

export interface ChosenFolders {
  readonly run: RunFolders;
  readonly presets: string;
}

/**
 * Where a run finds and leaves files: `--data-dir`, else `CODEFYUI_USER_DATA_DIR`, else `~/.codefyui`. The same layout as the server's, so
 * that a graph finds the same data sets and models whoever runs it.
 */
export function chooseFolders(
  choices: FolderChoices,
  env: Readonly<Record<string, string | undefined>>,
  program: string,
  runId: string,
): ChosenFolders {
  const user = resolve(choices.dataDir || env['CODEFYUI_USER_DATA_DIR']?.trim() || join(homedir(), '.codefyui'));
  const data = join(user, 'data');
  return {
    run: {
      data,
      models: join(data, 'models'),
      images: join(data, 'images'),
      files: join(data, 'files'),
      graphs: join(data, 'graphs'),
      datasets: join(data, 'datasets'),
      output: choices.outputDir ? resolve(choices.outputDir) : join(data, 'outputs', runId),
      customNodes: resolve(env['CODEFYUI_CUSTOM_NODES_DIR']?.trim() || join(data, 'custom_nodes')),
      examples: join(program, 'examples'),
    },
    presets: resolve(env['CODEFYUI_PRESETS_DIR']?.trim() || join(data, 'presets')),
  };
}

import { constants } from 'node:fs';
import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StepFacts } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import { capturedFiles, isPartial, isRunId } from './folders';
import { isRecordedTensor, type RecordedPort, type RecordedTensor } from './recorded-port';
import { INDEX_FILE, parseIndex, type RunIndex } from './run-index';
import { STATISTICS_LIMITS, statisticsOf, type StatisticsLimits, type TensorStatistics } from './statistics';
import { StatisticsCache } from './statistics-cache';
import { TensorFile } from './tensor-file';
import {
  gradientsOf,
  stepsOf,
  summaryOf,
  tensorView,
  valueView,
  type GradientEntry,
  type OutputView,
  type PortSummary,
  type SliceRequest,
} from './views';

export interface OutputStoreOptions {
  readonly statistics?: StatisticsLimits;
  readonly statisticsCacheBytes?: number;
}

const STATISTICS_CACHE_BYTES = 8 * 1024 * 1024;
/** A pipe in the file's place has no text at once, instead of being waited for. */
const INDEX = { encoding: 'utf8', flag: constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) } as const;

/**
 * Reads what runs recorded. The same functions answer on the server and on a worker. Nothing blocks for long: tensors are read in pieces, and only
 * as far as they are asked for.
 */
export class OutputStore {
  private readonly cache: StatisticsCache;

  /** @param root the folder that holds a folder for each run */
  constructor(
    private readonly root: string,
    private readonly options: OutputStoreOptions = {},
  ) {
    this.cache = new StatisticsCache(options.statisticsCacheBytes ?? STATISTICS_CACHE_BYTES);
  }

  /** @throws CodedError `outputs_not_found`, `output_damaged` */
  async list(runId: string): Promise<readonly PortSummary[]> {
    return (await this.index(runId)).ports.map(summaryOf);
  }

  /**
   * A port's value: of a tensor the slice that is asked for, of everything else what was kept.
   * @throws CodedError `outputs_not_found`, `output_not_found`, `output_damaged`, `invalid_slice`, `invalid_max_elements`, `slice_too_large`
   */
  async read(runId: string, nodeId: string, port: string, request: SliceRequest = {}): Promise<OutputView> {
    const { recorded } = await this.find(runId, nodeId, port);
    const place = { node_id: nodeId, port };
    if (!isRecordedTensor(recorded)) return { ...place, ...valueView(recorded) };
    return this.withTensor(runId, recorded, async (file) => ({
      ...place,
      ...(await tensorView(file, recorded, request)),
    }));
  }

  /** @throws CodedError `outputs_not_found`, `output_not_found`, `output_damaged`, `invalid_output_type` for anything but a tensor */
  async statistics(runId: string, nodeId: string, port: string): Promise<TensorStatistics> {
    const { index, recorded } = await this.find(runId, nodeId, port);
    if (!isRecordedTensor(recorded)) {
      throw new CodedError(
        'invalid_output_type',
        `Output "${port}" of node "${nodeId}" is of type ${recorded.type}: statistics are of tensors only`,
        { node_id: nodeId, port, type: recorded.type },
      );
    }
    // The time tells a run that was recorded anew from what it was before.
    const key = JSON.stringify([runId, index.recorded_at, nodeId, port]);
    const known = this.cache.get(key);
    if (known) return known;
    const limits = this.options.statistics ?? STATISTICS_LIMITS;
    const found = await this.withTensor(runId, recorded, (file) => statisticsOf(file, recorded.dtype, limits));
    this.cache.put(key, found);
    return found;
  }

  /** @throws CodedError `outputs_not_found`, `output_damaged` */
  async steps(runId: string, nodeId: string): Promise<readonly StepFacts[]> {
    return stepsOf(await this.portsOf(runId, nodeId));
  }

  /** @throws CodedError `outputs_not_found`, `output_damaged` */
  async gradients(runId: string, nodeId: string): Promise<readonly GradientEntry[]> {
    return gradientsOf(await this.portsOf(runId, nodeId));
  }

  /** Removes a run's captures, and the folder unless something else is in it. Whether there were any. */
  async delete(runId: string): Promise<boolean> {
    const index = await this.index(runId).catch(() => null);
    if (!index) return false;
    const folder = this.folder(runId);
    for (const path of capturedFiles(folder, index)) await rm(path, { force: true });
    await rmdir(folder).catch(() => undefined);
    return true;
  }

  /** Removes what processes that died left half written. For a start, when nothing records. Never rejects: it is tried again a day later. */
  async sweep(): Promise<void> {
    const names = await readdir(this.root).catch((): string[] => []);
    const partial = names.filter(isPartial);
    await Promise.allSettled(partial.map((name) => rm(join(this.root, name), { recursive: true, force: true })));
  }

  private folder(runId: string): string {
    return join(this.root, runId);
  }

  private async index(runId: string): Promise<RunIndex> {
    const path = join(this.folder(runId), INDEX_FILE);
    const text = isRunId(runId) ? await readFile(path, INDEX).catch(absent) : null;
    if (text === null) {
      throw new CodedError(
        'outputs_not_found',
        `There are no recorded outputs of run "${shown(runId)}": it ran without record_outputs, has not ended, or is so old that they were dropped`,
        { run_id: shown(runId) },
      );
    }
    return parseIndex(text, path);
  }

  private async portsOf(runId: string, nodeId: string): Promise<readonly RecordedPort[]> {
    return (await this.index(runId)).ports.filter((port) => port.node_id === nodeId);
  }

  private async find(
    runId: string,
    nodeId: string,
    port: string,
  ): Promise<{ readonly index: RunIndex; readonly recorded: RecordedPort }> {
    const index = await this.index(runId);
    const ofNode = index.ports.filter((recorded) => recorded.node_id === nodeId);
    const recorded = ofNode.find((candidate) => candidate.port === port);
    if (recorded) return { index, recorded };
    const known = ofNode.map((candidate) => candidate.port).join(', ');
    throw new CodedError(
      'output_not_found',
      known === ''
        ? `Run ${runId} recorded nothing of a node "${shown(nodeId)}": it did not complete, or is not in the graph`
        : `Run ${runId} recorded no output "${shown(port)}" of node "${nodeId}"; recorded are: ${known}`,
      { run_id: runId, node_id: shown(nodeId), port: shown(port) },
    );
  }

  private async withTensor<T>(
    runId: string,
    recorded: RecordedTensor,
    use: (file: TensorFile) => Promise<T>,
  ): Promise<T> {
    const path = join(this.folder(runId), recorded.file);
    const file = await TensorFile.open(path, recorded.tensor, recorded.full_shape);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

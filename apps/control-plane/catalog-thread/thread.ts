import { parentPort, workerData } from 'node:worker_threads';
import type { CatalogView, GraphFile, ValidationResult } from '@cdui/protocol';
import { catalogView, parseGraph, scrubSecrets, validateGraph } from '@cdui/engine';
import {
  builtinNodes,
  builtinPresets,
  catalogueOf,
  createPresetRegistry,
  CustomNodeFolder,
  loadPresetFolder,
} from '@cdui/nodes';
import type { PresetRegistry } from '@cdui/node-sdk';
import type {
  CatalogNotice,
  CatalogRequest,
  CatalogResponse,
  CatalogThreadData,
  CatalogueAnswer,
  WantedAnswers,
} from './messages';
import { prepareGraph, type Types } from './prepare-graph';
import { readSubmission } from './read-submission';

/** The thread that holds node code: it loads the folders and answers with plain data. */
class CatalogThread {
  private readonly folder: CustomNodeFolder;
  private presets: PresetRegistry;
  private answer: CatalogueAnswer;
  private hashes: Readonly<Record<string, string>> = {};

  constructor(private readonly data: CatalogThreadData) {
    this.folder = new CustomNodeFolder({ folder: data.customNodesDir, builtins: builtinNodes });
    [this.presets, this.answer] = this.describe();
    this.tell();
    this.folder.watch(() => {
      [this.presets, this.answer] = this.describe();
      this.tell();
    });
  }

  handle(request: CatalogRequest): unknown {
    switch (request.call) {
      case 'catalogue':
        return this.answer;
      case 'reload':
        this.folder.reload();
        [this.presets, this.answer] = this.describe();
        this.tell();
        return this.answer;
      case 'prepare':
        return prepareGraph(request.args[0], this.types(), request.args[1] as WantedAnswers);
      case 'readSubmission':
        return readSubmission(request.args[0] as Uint8Array, this.types());
      case 'validate':
        return this.validate(request.args[0]);
      case 'blankSecrets':
        return scrubSecrets(request.args[0] as GraphFile, this.view()).graph;
    }
  }

  /** Whoever started the thread hears of broken files without asking. */
  private tell(): void {
    const notice: CatalogNotice = { broken: this.answer.broken };
    parentPort?.postMessage(notice);
  }

  private types(): Types {
    return {
      registry: this.folder.snapshot().registry,
      presets: this.presets,
      hashes: this.hashes,
      customNodesDir: this.data.customNodesDir,
    };
  }

  private validate(json: unknown): ValidationResult {
    const { graph, issues } = parseGraph(json);
    if (graph) return validateGraph(graph, this.view());
    return { valid: false, errors: issues.map((issue) => issue.message), issues, warnings: [] };
  }

  private view(): CatalogView {
    return catalogView(this.folder.snapshot().registry, this.presets);
  }

  private describe(): [PresetRegistry, CatalogueAnswer] {
    const { registry, problems } = this.folder.snapshot();
    const warn = (text: string): void => void process.stderr.write(`${text}\n`);
    const presets = createPresetRegistry(
      [...builtinPresets, ...loadPresetFolder(this.data.presetsDir, warn)],
      registry,
      warn,
    );
    const { definitions, catalogHash, nodeTypeHashes } = catalogueOf(registry);
    this.hashes = nodeTypeHashes;
    return [
      presets,
      {
        hash: catalogHash,
        nodeTypeHashes,
        definitions,
        presets: presets.names().flatMap((name) => presets.get(name) ?? []),
        broken: problems.map(({ file, message }) => ({ file, message })),
      },
    ];
  }
}

const thread = new CatalogThread(workerData as CatalogThreadData);
parentPort?.on('message', (request: CatalogRequest) => {
  let response: CatalogResponse;
  try {
    response = { id: request.id, ok: true, answer: thread.handle(request) };
  } catch (error) {
    response = {
      id: request.id,
      ok: false,
      code: 'catalogue_failed',
      message: error instanceof Error ? error.message : String(error),
    };
  }
  parentPort?.postMessage(response, response.ok ? buffersOf(response.answer) : []);
});

/** Bytes of an answer are handed over rather than copied. */
function buffersOf(answer: unknown): ArrayBuffer[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.values(answer).flatMap((member) =>
    member instanceof Uint8Array ? [member.buffer as ArrayBuffer] : [],
  );
}

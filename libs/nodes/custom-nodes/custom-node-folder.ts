import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as sdk from '@cdui/node-sdk';
import type { NodeRegistry, NodeSpec, NodeType } from '@cdui/node-sdk';
import { CodedError } from '@cdui/protocol';
import { createNodeRegistry } from '../registry';
import { SPECIFIED_TYPES } from '../specified-types';
import { MODULE_EXTENSIONS, ModuleLoader, problemOf } from './module-loader';
import { watchFolder } from './watch-folder';

/** A file that could not be used, or a node of it. Everything else works on. */
export interface CustomNodeProblem {
  /** File name inside the folder. */
  readonly file: string;
  readonly message: string;
  readonly line?: number;
}

/** The node types at one moment: the built-in ones and those of the folder. Never changes; a run keeps the one it began with. */
export interface CustomNodeSnapshot {
  readonly registry: NodeRegistry;
  readonly problems: readonly CustomNodeProblem[];
}

export interface CustomNodeFolderOptions {
  /** Null: there are no custom nodes. A folder that does not exist yet is an empty one. */
  readonly folder: string | null;
  readonly builtins: readonly NodeType[];
}

/** What a custom module exports: a function of the SDK that gives one definition or several. */
export type CustomNodeModule = (library: typeof sdk) => CustomNode | readonly CustomNode[];
export type CustomNode = NodeSpec | NodeType;

/**
 * The node types of a folder's modules (`module.exports = (sdk) => definition | definition[]`, or the same as a default export; `.js`,
 * `.cjs`, `.mjs` and `.ts`) on top of the built-in ones. A file that cannot be used is reported and harms nothing else; its nodes are gone
 * until it is right again, so that nobody runs an older version than the one they look at. Files whose name begins with `_` or `.`,
 * and files in sub-folders, are helpers that modules may import.
 */
export class CustomNodeFolder {
  private current: CustomNodeSnapshot;

  constructor(private readonly options: CustomNodeFolderOptions) {
    this.current = this.load();
  }

  /** The types as last loaded. */
  snapshot(): CustomNodeSnapshot {
    return this.current;
  }

  /** Loads every file afresh. Earlier snapshots stay as they are. */
  reload(): CustomNodeSnapshot {
    this.current = this.load();
    return this.current;
  }

  /** Reloads shortly after files change, then calls `onReload`. Returns how to stop. */
  watch(onReload: (snapshot: CustomNodeSnapshot) => void): () => void {
    const { folder } = this.options;
    return folder === null ? () => undefined : watchFolder(folder, () => onReload(this.reload()));
  }

  private load(): CustomNodeSnapshot {
    const { folder, builtins } = this.options;
    const types = new Map(builtins.map((type) => [type.definition.node_name, type]));
    const problems: CustomNodeProblem[] = [];
    const loader = new ModuleLoader();
    for (const file of folder === null ? [] : moduleFiles(folder)) {
      const path = join(folder ?? '', file);
      try {
        for (const type of typesOf(loader.load(path), file)) {
          const problem = clashOf(type.definition.node_name, types);
          if (problem === null) types.set(type.definition.node_name, type);
          else problems.push({ file, message: problem });
        }
      } catch (error) {
        problems.push({ file, ...problemOf(error, path) });
      }
    }
    return Object.freeze({ registry: createNodeRegistry([...types.values()]), problems: Object.freeze(problems) });
  }
}

function moduleFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && isModuleName(entry.name))
      .map((entry) => entry.name)
      .sort();
  } catch {
    return [];
  }
}

function isModuleName(name: string): boolean {
  return (
    !/^[._]/.test(name) && !name.endsWith('.d.ts') && MODULE_EXTENSIONS.some((extension) => name.endsWith(extension))
  );
}

function typesOf(exported: unknown, file: string): readonly NodeType[] {
  const factory = defaultOf(exported);
  if (typeof factory !== 'function') {
    throw new CodedError(
      'invalid_custom_module',
      `${basename(file)} must export a function: module.exports = (sdk) => sdk.defineNode({ ... })`,
      { file },
    );
  }
  const made = (factory as CustomNodeModule)(sdk);
  const nodes = Array.isArray(made) ? (made as readonly CustomNode[]) : [made as CustomNode];
  return nodes.map((node) => {
    const type = isNodeType(node) ? node : sdk.defineNode(node);
    return { ...type, definition: { ...type.definition, provider: `custom:${file}` } };
  });
}

// An ES module's default export, compiled to CommonJS, is a member; a CommonJS module is its export itself.
function defaultOf(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported;
}

function isNodeType(node: CustomNode): node is NodeType {
  return typeof node === 'object' && node !== null && 'definition' in node && typeof node.execute === 'function';
}

function clashOf(name: string, types: ReadonlyMap<string, NodeType>): string | null {
  const other = types.get(name);
  if (other?.definition.provider === 'builtin') return `"${name}" is the name of a built-in node: choose another name`;
  if (other) {
    return `"${name}" is already defined by ${other.definition.provider.replace('custom:', '')}: choose another name`;
  }
  if (SPECIFIED_TYPES.has(name)) return `"${name}" is reserved for a built-in node: choose another name`;
  return null;
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import { builtinNodes, builtinPresets, createPresetRegistry, CustomNodeFolder, loadPresetFolder } from '@cdui/nodes';

/** Where types and presets besides the built-in ones come from. */
export interface CatalogueFolders {
  readonly customNodes: string | null;
  readonly presets: string | null;
}

export interface Catalogue {
  readonly registry: NodeRegistry;
  readonly presets: PresetRegistry;
  /** Custom node files and presets that could not be used, in words. */
  readonly problems: readonly string[];
}

/** Loads what there is at this moment; a run keeps it whatever happens to the files. */
export function loadCatalogue(folders: CatalogueFolders): Catalogue {
  const custom = new CustomNodeFolder({ folder: folders.customNodes, builtins: builtinNodes }).snapshot();
  const problems = custom.problems.map(({ file, message }) => `Custom node file ${file}: ${message}`);
  const warn = (text: string): void => void problems.push(text);
  const installed = folders.presets === null ? [] : loadPresetFolder(folders.presets, warn);
  const presets = createPresetRegistry([...builtinPresets, ...installed], custom.registry, warn);
  return { registry: custom.registry, presets, problems };
}

/**
 * Loads again only when a file changed: the types of a session stay the same objects, by which its cache knows them, and a run does not
 * wait for modules to be compiled once more.
 */
export class CatalogueLoader {
  private last: { readonly state: string; readonly catalogue: Catalogue } | null = null;

  load(folders: CatalogueFolders): Catalogue {
    const state = JSON.stringify([folders, stateOf(folders.customNodes), stateOf(folders.presets)]);
    if (this.last?.state !== state) this.last = { state, catalogue: loadCatalogue(folders) };
    return this.last.catalogue;
  }
}

/** Every file below a folder with its size and time of change: modules may import helpers from folders further down. */
function stateOf(folder: string | null): readonly string[] {
  if (folder === null) return [];
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return `${name}\0${size}\0${mtimeMs}`;
    });
  } catch {
    // There is no such folder, or a file went while it was looked at: the next look sees it.
    return [];
  }
}

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
  // Built-in presets whose nodes are not available yet are left out without a word: it is nobody's mistake.
  const builtins = builtinPresets.filter((preset) => preset.nodes.every(({ type }) => custom.registry.get(type)));
  const presets = createPresetRegistry([...builtins, ...installed], custom.registry, warn);
  return { registry: custom.registry, presets, problems };
}

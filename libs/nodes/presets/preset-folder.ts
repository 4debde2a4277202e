import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PresetDefinition } from '@cdui/protocol';
import { readText } from '../read-text';

/** Presets of a folder's `*.json` files in the order of their names. A missing folder is an empty one; a bad file is reported and left out. */
export function loadPresetFolder(folder: string, warn: (text: string) => void): readonly PresetDefinition[] {
  const presets: PresetDefinition[] = [];
  for (const file of presetFiles(folder)) {
    try {
      const preset: unknown = JSON.parse(readText(join(folder, file)));
      const problem = problemOf(preset);
      if (problem === null) presets.push(preset as PresetDefinition);
      else warn(`Preset file ${file} is left out: ${problem}`);
    } catch (error) {
      warn(`Preset file ${file} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return presets;
}

function presetFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort();
  } catch {
    return [];
  }
}

const LISTS: Readonly<Record<string, readonly string[]>> = {
  nodes: ['id', 'type'],
  edges: ['source', 'sourceHandle', 'target', 'targetHandle'],
  exposed_inputs: ['name', 'internal_node', 'internal_port'],
  exposed_outputs: ['name', 'internal_node', 'internal_port'],
  exposed_params: ['internal_node', 'param_name'],
};

function problemOf(preset: unknown): string | null {
  if (!isObject(preset)) return 'it must hold one JSON object';
  if (typeof preset['preset_name'] !== 'string' || preset['preset_name'] === '') return '"preset_name" must be a text';
  for (const [list, members] of Object.entries(LISTS)) {
    const items = preset[list];
    if (!Array.isArray(items)) return `"${list}" must be a list`;
    for (const item of items as readonly unknown[]) {
      const wrong = members.find((member) => !isObject(item) || typeof item[member] !== 'string');
      if (wrong !== undefined) return `each item of "${list}" needs the text "${wrong}"`;
    }
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

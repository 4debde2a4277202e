import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { NodeDefinition, ParamDefinition, PortType, PresetDefinition, PresetPort } from '@cdui/protocol';

/**
 * A registry of installed presets; like a node registry it never changes. Port types and param definitions that a preset leaves empty
 * are filled in from the node types. A preset that uses a type which is not there is left out, as is a later one of the same name;
 * `warn` hears of both.
 */
export function createPresetRegistry(
  presets: readonly PresetDefinition[],
  nodes: NodeRegistry,
  warn: (text: string) => void,
): PresetRegistry {
  const byName = new Map<string, PresetDefinition>();
  for (const preset of presets) {
    const name = preset.preset_name;
    // A preset inside is looked for when the outer one is opened: it may come from the graph, or later in this list.
    const missing = preset.nodes
      .map(({ type }) => type)
      .filter((type) => !nodes.get(type) && !type.startsWith('preset:'));
    if (missing.length > 0) {
      warn(`Preset "${name}" is left out: there is no node type ${[...new Set(missing)].join(', ')}`);
    } else if (byName.has(name)) {
      warn(`A second preset "${name}" is left out: rename it`);
    } else {
      byName.set(name, filled(preset, nodes));
    }
  }
  const names = Object.freeze([...byName.keys()].sort());
  return Object.freeze({ get: (name: string) => byName.get(name), names: () => names });
}

function filled(preset: PresetDefinition, nodes: NodeRegistry): PresetDefinition {
  const inner = new Map(preset.nodes.map((node) => [node.id, node]));
  const portType = (port: PresetPort, side: 'inputs' | 'outputs'): PortType => {
    const node = inner.get(port.internal_node);
    const type = node && nodes.get(node.type);
    const dynamic = side === 'inputs' ? type?.inputsFor?.(node?.params ?? {}) : type?.outputsFor?.(node?.params ?? {});
    const ports = dynamic ?? type?.definition[side] ?? [];
    return ports.find((candidate) => candidate.name === port.internal_port)?.data_type ?? 'ANY';
  };
  const withType = (side: 'inputs' | 'outputs') => (port: PresetPort) => ({
    ...port,
    data_type: port.data_type || portType(port, side),
  });
  return {
    ...preset,
    exposed_inputs: preset.exposed_inputs.map(withType('inputs')),
    exposed_outputs: preset.exposed_outputs.map(withType('outputs')),
    exposed_params: preset.exposed_params.map((exposed) => {
      const node = inner.get(exposed.internal_node);
      const definition = node && nodes.get(node.type)?.definition;
      return { ...exposed, param_def: exposed.param_def ?? paramOf(definition, exposed.param_name, node?.params) };
    }),
  };
}

// The preset's own value is the default that its user sees.
function paramOf(
  definition: NodeDefinition | undefined,
  name: string,
  params: Readonly<Record<string, unknown>> | undefined,
): ParamDefinition | null {
  const found = definition?.params.find((param) => param.name === name);
  if (!found) return null;
  const own = params?.[name];
  return own === undefined ? found : { ...found, default: own };
}

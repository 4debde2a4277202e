import type { NodeRegistry } from '@cdui/node-sdk';
import type { NodeDefinition, ParamDefinition, PortDefinition } from '@cdui/protocol';

/** The reference page of a registry's nodes, in Markdown: a table per category. */
export function nodeList(registry: NodeRegistry): string {
  const definitions = registry.names().flatMap((name) => registry.get(name)?.definition ?? []);
  const categories = [...new Set(definitions.map((definition) => definition.category))].sort();
  const tables = categories.map((category) => tableOf(category, definitions));
  return `# Nodes

Every node that comes with the program, with its ports and params (defaults in brackets; \`?\` marks what may be left out). Written by
\`node tools/list-nodes.mjs\` after \`npm run build\`. How to write another: [Add a node](contributing/add-a-node.md).

${tables.join('\n')}`;
}

function tableOf(category: string, definitions: readonly NodeDefinition[]): string {
  const rows = definitions.filter((definition) => definition.category === category).map(rowOf);
  return `## ${category}\n\n| node | what it does | inputs | outputs | params |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function rowOf(definition: NodeDefinition): string {
  const cells = [
    `\`${definition.node_name}\``,
    definition.description,
    definition.inputs.map(portText).join('<br>'),
    definition.outputs.map(portText).join('<br>'),
    definition.params.map(paramText).join('<br>'),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

function portText({ name, data_type, optional }: PortDefinition): string {
  return `\`${name}\`${optional ? '?' : ''}: ${data_type}`;
}

function paramText({ name, param_type, default: initial, options }: ParamDefinition): string {
  const shown = options.length > 0 ? options.join(', ') : param_type;
  const text = typeof initial === 'string' ? initial : (JSON.stringify(initial) ?? '');
  const short = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  return `\`${name}\`: ${shown}${initial === null || short === '' ? '' : ` [${short.replaceAll('\n', ' ')}]`}`;
}

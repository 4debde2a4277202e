import type { CatalogView, GraphFile, GraphIssue } from '@cdui/protocol';
import type { ContractInput } from './contract';
import { graphContract, parseDefault } from './contract';
import type { PresetSource } from './flatten';
import { Issues } from './issues';
import { listNames, show } from './json';
import { shapeIssues } from './shape';

/** Reads the image that a text names, as base64 or a data URL; a problem completes "Input ... is an image: ". */
export type ImageReader = (text: string) => { readonly value: string } | { readonly problem: string };

export interface GivenInputs {
  readonly graph: GraphFile;
  readonly issues: readonly GraphIssue[];
}

/**
 * Gives GraphInput nodes values that are written as text, for a run that is no function call: each is read as the input's type says, as
 * its default would be; an input that is not named takes its default.
 */
export function giveInputs(
  graph: GraphFile,
  texts: ReadonlyMap<string, string>,
  { catalog, presets, readImage }: { catalog: CatalogView; presets: PresetSource; readImage: ImageReader },
): GivenInputs {
  if (texts.size === 0 || shapeIssues(graph).length > 0) return { graph, issues: [] };
  const { inputs } = graphContract(graph, catalog, presets).contract;
  const issues = new Issues();
  const values = new Map<string, unknown>();
  for (const [name, text] of texts) {
    const input = inputs.find((candidate) => candidate.name === name);
    if (input === undefined) {
      const known = inputs.length > 0 ? `its inputs are ${listNames(inputs.map((one) => one.name))}` : 'it has none';
      issues.add('invalid_input', null, `The graph has no input ${show(name)}: ${known}`, { input: name });
      continue;
    }
    const read = valueOf(input, text, readImage);
    if ('value' in read) values.set(input.node_id, read.value);
    else {
      issues.add('invalid_input', input.node_id, `Input "${name}" (${input.type}) got ${show(text)}, ${read.problem}`, {
        input: name,
        type: input.type,
      });
    }
  }
  return { graph: withValues(graph, values), issues: issues.list };
}

function valueOf(
  { type }: ContractInput,
  text: string,
  readImage: ImageReader,
): { readonly value: unknown } | { readonly problem: string } {
  if (type === 'image') return readImage(text);
  if (type !== 'string' && text.trim() === '') return { problem: 'which is empty: give it a value' };
  const read = parseDefault(text, type);
  return 'value' in read ? read : { problem: `which is ${read.problem}` };
}

/** The values as calls bring them: a param `value` that no definition lists. */
function withValues(graph: GraphFile, values: ReadonlyMap<string, unknown>): GraphFile {
  const nodes = graph.nodes.map((node) => {
    if (node.type !== 'GraphInput' || !values.has(node.id)) return node;
    const value = values.get(node.id);
    return { ...node, data: { ...node.data, params: { ...node.data?.params, value } } };
  });
  return { ...graph, nodes };
}

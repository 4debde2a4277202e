import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { GraphIssue, PresetDefinition } from '@cdui/protocol';
import type { Plan } from '../plan-types';
import { checkGraph, cycleIssue } from './checks';
import type { FlatEdge, FlatGraph, FlatNode } from './flat-graph';
import { flatten } from './flatten';
import { makeIssue } from './issues';
import { catalogView, NodeTypes } from './node-types';
import { topologicalOrder } from './order';
import { makePlan } from './plan';
import { presetProblem } from './shape';
import { inputKey, lastEdgeWins } from './wiring';

/** A preset as a function of one value: the executor puts the item at `input` and reads the result at `output`. */
export interface PresetPlan {
  readonly plan: Plan;
  readonly input: { readonly node: string; readonly port: string };
  readonly output: { readonly node: string; readonly port: string };
}

const INSTANCE = 'preset';

/**
 * Plans a preset for `Map`: all of its nodes run, its first exposed input is supplied from outside, its first exposed output is
 * the result. Presets inside it come from the installed ones only.
 */
export function planPreset(
  preset: PresetDefinition,
  options: { readonly registry: NodeRegistry; readonly presets: PresetRegistry },
): PresetPlan | { readonly issues: readonly GraphIssue[] } {
  const problem = presetProblem(preset) ?? boundaryProblem(preset);
  if (problem !== null) {
    return {
      issues: [
        makeIssue('malformed_preset', null, `Preset "${preset.preset_name}": ${problem}`, {
          preset: preset.preset_name,
        }),
      ],
    };
  }
  const types = new NodeTypes(catalogView(options.registry, options.presets));
  const outside = { id: '', type: '' };
  const ports = [
    { source: outside.id, sourceHandle: '', target: INSTANCE, targetHandle: preset.exposed_inputs[0]?.name ?? '' },
    { source: INSTANCE, sourceHandle: preset.exposed_outputs[0]?.name ?? '', target: outside.id, targetHandle: '' },
  ];
  // The instance is opened like any other; its two outer edges then show where the ports lead, through nested presets too.
  const file = { nodes: [{ id: INSTANCE, type: `preset:${preset.preset_name}` }], edges: ports, presets: [preset] };
  const flattened = flatten(file, options.presets);
  const { graph } = lastEdgeWins({
    ...flattened.graph,
    data: flattened.graph.data.filter((edge) => edge.source !== outside.id && edge.target !== outside.id),
  });
  const entry = flattened.graph.data.find((edge) => edge.source === outside.id);
  const exit = flattened.graph.data.find((edge) => edge.target === outside.id);
  if (flattened.issues.length > 0 || !entry || !exit) return { issues: flattened.issues };
  const supplied = new Set([inputKey(entry.target, entry.targetPort)]);
  const issues = [...checkGraph(graph, { types, lost: new Map(), supplied }), ...portIssues(graph, types, entry, exit)];
  const order = topologicalOrder(graph);
  if ('cycle' in order) return { issues: [...issues, cycleIssue(order.cycle)] };
  if (issues.length > 0) return { issues };
  return {
    plan: makePlan(graph, order.nodes, types, [], new Map()),
    input: { node: entry.target, port: entry.targetPort },
    output: { node: exit.source, port: exit.sourcePort },
  };
}

function portIssues(graph: FlatGraph, types: NodeTypes, entry: FlatEdge, exit: FlatEdge): readonly GraphIssue[] {
  const lacks = (id: string, side: 'inputs' | 'outputs', name: string): boolean => {
    const typed = types.of(graph.nodes.find((node) => node.id === id) as FlatNode);
    return typed !== null && !typed[side].some((port) => port.name === name);
  };
  return [
    ...(lacks(entry.target, 'inputs', entry.targetPort)
      ? [
          makeIssue(
            'unknown_input_port',
            INSTANCE,
            `The exposed input leads to "${entry.targetPort}", which the inner node does not have`,
            { port: entry.targetPort },
          ),
        ]
      : []),
    ...(lacks(exit.source, 'outputs', exit.sourcePort)
      ? [
          makeIssue(
            'unknown_output_port',
            INSTANCE,
            `The exposed output leads to "${exit.sourcePort}", which the inner node does not have`,
            { port: exit.sourcePort },
          ),
        ]
      : []),
  ];
}

function boundaryProblem(preset: PresetDefinition): string | null {
  if (!preset.exposed_inputs?.length) return 'it exposes no input, so that Map has nowhere to put an item';
  if (!preset.exposed_outputs?.length) return 'it exposes no output, so that Map has no result to collect';
  return null;
}

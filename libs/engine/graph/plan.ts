import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { GraphFile, GraphIssue } from '@cdui/protocol';
import type { Plan, PlannedNode } from '../plan-types';
import { removeBypassed } from './bypass';
import { checkGraph, cycleIssue, noEntryPoint } from './checks';
import { coerceInputs } from './coerce';
import { graphContract } from './contract';
import { executableSet, restrict, withAncestors } from './executable-set';
import type { FlatGraph, FlatNode } from './flat-graph';
import { flatten } from './flatten';
import { makeIssue } from './issues';
import { listNames, own, show } from './json';
import { catalogView, NodeTypes } from './node-types';
import { topologicalOrder } from './order';
import { shapeIssues } from './shape';
import { lastEdgeWins } from './wiring';

export interface PlanOptions {
  readonly registry: NodeRegistry;
  readonly presets: PresetRegistry;
  /** Runs only these nodes (ids of the file or of the opened graph) and what they depend on. */
  readonly only?: readonly string[];
  /** Values for the GraphInput nodes of a graph that runs as a function; the graph must then have a contract. */
  readonly inputs?: Readonly<Record<string, unknown>>;
}

export type PlanResult = { readonly plan: Plan } | { readonly issues: readonly GraphIssue[] };

/** What a run of the graph executes, or why it cannot run. Drafts are left out and not checked. */
export function planGraph(graph: GraphFile, options: PlanOptions): PlanResult {
  const checked = checkRun(graph, options);
  if ('issues' in checked) return checked;
  return { plan: makePlan(checked.runs, checked.order, checked.types, checked.fileIds, checked.values) };
}

/** Why `planGraph` would make no plan of the graph; empty when it would. */
export function runIssues(graph: GraphFile, options: PlanOptions): readonly GraphIssue[] {
  const checked = checkRun(graph, options);
  return 'issues' in checked ? checked.issues : [];
}

/** What a plan is made of. */
interface CheckedRun {
  readonly runs: FlatGraph;
  readonly order: readonly FlatNode[];
  readonly types: NodeTypes;
  readonly fileIds: readonly string[];
  readonly values: ReadonlyMap<string, unknown>;
}

function checkRun(graph: GraphFile, options: PlanOptions): CheckedRun | { readonly issues: readonly GraphIssue[] } {
  const shape = shapeIssues(graph);
  if (shape.length > 0) return { issues: shape };
  const types = new NodeTypes(catalogView(options.registry, options.presets));
  const flattened = flatten(graph, options.presets);
  const single = lastEdgeWins(flattened.graph);
  // Bypassed nodes count as wired for now, so that problems of those among the drafts stay out.
  const executable = executableSet(single.graph, single.reached);
  const reached = restrict(single.graph, executable);
  const bypassed = removeBypassed(reached, types);
  const set =
    bypassed.graph === reached ? executable : executableSet(bypassed.graph, [...bypassed.cutOff, ...single.reached]);
  const chosen = choose(bypassed.graph, set, options.only);
  if ('issues' in chosen) return chosen;
  const runs = chosen.set === executable ? reached : restrict(bypassed.graph, chosen.set);
  const issues: GraphIssue[] = [
    ...about(flattened.issues, reached),
    ...bypassed.issues.list,
    ...checkGraph(runs, { types, lost: bypassed.lost, supplied: new Set() }),
  ];
  if (set.size === 0) issues.push(noEntryPoint());
  const given = options.inputs ? givenValues(graph, options, options.inputs) : { values: NO_VALUES, issues: [] };
  issues.push(...given.issues);
  const order = topologicalOrder(runs);
  if ('cycle' in order) return { issues: [...issues, cycleIssue(order.cycle)] };
  if (issues.length > 0) return { issues };
  return { runs, order: order.nodes, types, fileIds: flattened.graph.fileIds, values: given.values };
}

const NO_VALUES: ReadonlyMap<string, unknown> = new Map();

function givenValues(
  graph: GraphFile,
  options: PlanOptions,
  inputs: Readonly<Record<string, unknown>>,
): { values: ReadonlyMap<string, unknown>; issues: readonly GraphIssue[] } {
  const { contract, issues } = graphContract(graph, catalogView(options.registry, options.presets), options.presets);
  if (issues.length > 0) return { values: NO_VALUES, issues };
  const coerced = coerceInputs(contract, inputs);
  const values = contract.inputs.flatMap((input) =>
    Object.hasOwn(coerced.values, input.name) ? [[input.node_id, coerced.values[input.name]] as const] : [],
  );
  return { values: new Map(values), issues: coerced.issues };
}

/** Keeps the issues about nodes of this graph: those of drafts are nobody's concern. */
function about(issues: readonly GraphIssue[], graph: FlatGraph): readonly GraphIssue[] {
  if (issues.length === 0) return issues;
  const ids = new Set<unknown>(graph.nodes.map((node) => node.origin.nodeId));
  return issues.filter(
    (issue) => issue.node_id === null || ids.has(issue.node_id) || ids.has(own(issue.params, 'other')),
  );
}

function choose(
  graph: FlatGraph,
  set: ReadonlySet<string>,
  only: readonly string[] | undefined,
): { set: ReadonlySet<string> } | { issues: readonly GraphIssue[] } {
  if (only === undefined) return { set };
  const members = new Map<string, string[]>();
  for (const node of graph.nodes) {
    if (!set.has(node.id)) continue;
    for (const name of new Set([node.id, node.origin.nodeId])) {
      const known = members.get(name);
      if (known) known.push(node.id);
      else members.set(name, [node.id]);
    }
  }
  const missing = only.filter((id) => !members.has(id));
  if (missing.length > 0) {
    return {
      issues: missing.map((id) =>
        makeIssue(
          'unknown_node',
          id,
          `The run was restricted to the node ${show(id)}, which is not among those that run: name one of ${listNames([...members.keys()])}`,
          { node: id },
        ),
      ),
    };
  }
  return {
    set: withAncestors(
      graph,
      only.flatMap((id) => members.get(id) ?? []),
    ),
  };
}

/** Puts checked, ordered nodes into the form that the engine executes. */
export function makePlan(
  graph: FlatGraph,
  order: readonly FlatNode[],
  types: NodeTypes,
  fileIds: readonly string[],
  values: ReadonlyMap<string, unknown>,
): Plan {
  const incoming = new Map<string, [string, { node: string; port: string }][]>();
  for (const edge of graph.data) {
    const entry: [string, { node: string; port: string }] = [
      edge.targetPort,
      { node: edge.source, port: edge.sourcePort },
    ];
    const list = incoming.get(edge.target);
    if (list) list.push(entry);
    else incoming.set(edge.target, [entry]);
  }
  const containers = new Map<string, string[]>();
  const planned = order.map((node): PlannedNode => {
    const typed = types.of(node);
    const { nodeId, innerId } = node.origin;
    if (innerId !== null) containers.set(nodeId, containers.get(nodeId) ?? []);
    if (innerId !== null) containers.get(nodeId)?.push(node.id);
    return {
      id: node.id,
      type: typed?.definition.node_name ?? node.type,
      params: { ...(typed?.params ?? node.params), ...(values.has(node.id) && { value: values.get(node.id) }) },
      origin: node.origin,
      inputs: Object.fromEntries(incoming.get(node.id) ?? []),
    };
  });
  const running = new Set(order.map((node) => node.origin.nodeId));
  return {
    nodes: planned,
    drafts: fileIds.filter((id) => !running.has(id)),
    containers: Object.fromEntries(containers),
  };
}

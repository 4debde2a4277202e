import type { CatalogView, GraphFile, GraphIssue, ValidationResult } from '@cdui/protocol';
import { removeBypassed } from './bypass';
import { checkGraph, cycleIssue, noEntryPoint } from './checks';
import { interfaceIssues } from './contract';
import { executableSet, restrict } from './executable-set';
import { flatten } from './flatten';
import { makeIssue } from './issues';
import { NodeTypes } from './node-types';
import { topologicalOrder } from './order';
import { shapeIssues } from './shape';
import { lastEdgeWins } from './wiring';

/** The newest `format_version` that this program writes and reads without loss. */
export const FORMAT_VERSION = 1;

/** Checks the whole file, drafts included, and collects every problem. */
export function validateGraph(graph: GraphFile, catalog: CatalogView): ValidationResult {
  const shape = shapeIssues(graph);
  if (shape.length > 0) return resultOf(shape, []);
  const types = new NodeTypes(catalog);
  const flattened = flatten(graph, { get: (name) => catalog.preset(name) });
  const single = lastEdgeWins(flattened.graph);
  const bypassed = removeBypassed(single.graph, types);
  const issues: GraphIssue[] = [...flattened.issues, ...bypassed.issues.list];
  const checked = checkGraph(bypassed.graph, { types, lost: bypassed.lost, supplied: new Set() });
  issues.push(...checked);
  // A node type may check its own interface params; what it said is not said twice.
  const spoken = new Set(checked.map((issue) => issue.node_id));
  issues.push(...interfaceIssues(bypassed.graph.nodes, types).filter((issue) => !spoken.has(issue.node_id)));
  const set = executableSet(bypassed.graph, [...bypassed.cutOff, ...single.reached]);
  if (set.size === 0) issues.push(noEntryPoint());
  const order = topologicalOrder(restrict(bypassed.graph, set));
  if ('cycle' in order) issues.push(cycleIssue(order.cycle));
  return resultOf(issues, [...versionWarning(graph), ...single.warnings.list]);
}

function versionWarning(graph: GraphFile): readonly GraphIssue[] {
  const version = graph.format_version ?? FORMAT_VERSION;
  if (version <= FORMAT_VERSION) return [];
  return [
    makeIssue(
      'unsupported_format_version',
      null,
      `The file has format version ${version}, this program knows ${FORMAT_VERSION}: open it read-only or update the program`,
      { version, known: FORMAT_VERSION },
    ),
  ];
}

function resultOf(issues: readonly GraphIssue[], warnings: readonly GraphIssue[]): ValidationResult {
  return { valid: issues.length === 0, errors: issues.map((issue) => issue.message), issues, warnings };
}

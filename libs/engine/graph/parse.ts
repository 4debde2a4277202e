import type { GraphFile, GraphIssue } from '@cdui/protocol';
import { makeIssue } from './issues';
import { shapeIssues } from './shape';

export interface ParsedGraph {
  /** Null when the structure is wrong. The very value that was read: unknown keys stay. */
  readonly graph: GraphFile | null;
  readonly issues: readonly GraphIssue[];
}

/** Reads a graph from its text or from parsed JSON and checks its structure; says nothing about types, ports or entry points. */
export function parseGraph(json: unknown): ParsedGraph {
  let value = json;
  if (typeof json === 'string') {
    try {
      value = JSON.parse(json.startsWith('\uFEFF') ? json.slice(1) : json);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return { graph: null, issues: [makeIssue('not_a_graph', null, `The graph is not valid JSON: ${detail}`)] };
    }
  }
  const issues = shapeIssues(value);
  return issues.length > 0 ? { graph: null, issues } : { graph: value as GraphFile, issues: [] };
}

/** The text of a graph file: every key that was read, two spaces of indentation, a newline at the end. */
export function serialiseGraph(graph: GraphFile): string {
  return `${JSON.stringify(graph, null, 2)}\n`;
}

import type { GraphIssue, IssueCode } from '@cdui/protocol';
import { plain } from './json';

/** Collects problems. `node` is an id of the file (the outermost container of an inner node), or null. */
export class Issues {
  private readonly found: GraphIssue[] = [];

  add(code: IssueCode, node: string | null, message: string, params: Readonly<Record<string, unknown>> = {}): void {
    this.found.push(makeIssue(code, node, message, params));
  }

  addAll(issues: readonly GraphIssue[]): void {
    for (const issue of issues) this.found.push(issue);
  }

  get list(): readonly GraphIssue[] {
    return this.found;
  }

  get empty(): boolean {
    return this.found.length === 0;
  }
}

export function makeIssue(
  code: IssueCode,
  node: string | null,
  message: string,
  params: Readonly<Record<string, unknown>> = {},
): GraphIssue {
  const entries = Object.entries(params).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.slice(0, 100).map(plain) : plain(value),
  ]);
  return {
    message: bounded(message),
    code,
    node_id: node,
    params: Object.fromEntries(entries) as GraphIssue['params'],
  };
}

/** Ids and types come from a file and can be of any length; what matters of a message must stay readable. */
function bounded(message: string): string {
  const short = message.replace(/\S{161,}/g, (word) => `${word.slice(0, 160)}...`);
  return short.length > 2000 ? `${short.slice(0, 2000)}...` : short;
}

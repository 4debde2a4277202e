import type { GraphIssue, RunHostMessage, RunOutcome } from '@cdui/protocol';

/** What is known of a graph file before it runs. */
export interface FileFacts {
  readonly file: string;
  readonly name: string;
  readonly nodes: number;
  readonly edges: number;
  readonly planned: number;
}

/** Shows a run to somebody. Called in this order: checked, message for each message, finished or failed. */
export interface RunView {
  checked(facts: FileFacts, issues: readonly GraphIssue[], warnings: readonly GraphIssue[]): void;
  /** Something about the machine rather than the graph: a custom node file that is broken. */
  notice(text: string): void;
  message(message: RunHostMessage): void;
  /** Ctrl+C was pressed once. */
  stopping(): void;
  finished(outcome: RunOutcome): void;
  /** The file could not be read, or the program failed. */
  failed(message: string): void;
}

import type { GraphFile } from '@cdui/protocol';

/** A graph, or its JSON in UTF-8. */
export type KeptGraph = GraphFile | Uint8Array;

/** Graphs without secrets that are kept for runs which have not started: those further back are read from their rows. */
const MAX_KEPT = 32;

const decoder = new TextDecoder();

/**
 * Graphs of runs that were accepted, as they were submitted. Their secrets are here and nowhere else: rows have them blank. Ended runs and
 * ended servers leave none.
 */
export class GraphVault {
  private readonly secret = new Map<string, KeptGraph>();
  private readonly recent = new Map<string, KeptGraph>();

  keep(id: string, graph: KeptGraph, hasSecrets: boolean): void {
    if (hasSecrets) this.secret.set(id, graph);
    else if (this.recent.size < MAX_KEPT) this.recent.set(id, graph);
  }

  /** Hands the graph out. One with secrets stays, for a run that returns to the queue; any other is read from its row then. */
  take(id: string): GraphFile | null {
    const graph = this.secret.get(id) ?? this.recent.get(id) ?? null;
    this.recent.delete(id);
    return graph instanceof Uint8Array ? (JSON.parse(decoder.decode(graph)) as GraphFile) : graph;
  }

  drop(id: string): void {
    this.secret.delete(id);
    this.recent.delete(id);
  }
}

import type { GraphFile } from '@cdui/protocol';

/** Graphs without secrets that are kept for runs which have not started: those further back are read from their rows. */
const MAX_KEPT = 32;

/**
 * Graphs of runs that were accepted, as they were submitted. Their secrets are here and nowhere else: rows have them blank. Ended runs and
 * ended servers leave none.
 */
export class GraphVault {
  private readonly secret = new Map<string, GraphFile>();
  private readonly recent = new Map<string, GraphFile>();

  keep(id: string, graph: GraphFile, hasSecrets: boolean): void {
    if (hasSecrets) this.secret.set(id, graph);
    else if (this.recent.size < MAX_KEPT) this.recent.set(id, graph);
  }

  /** Hands the graph out, once. */
  take(id: string): GraphFile | null {
    const graph = this.secret.get(id) ?? this.recent.get(id) ?? null;
    this.drop(id);
    return graph;
  }

  drop(id: string): void {
    this.secret.delete(id);
    this.recent.delete(id);
  }
}

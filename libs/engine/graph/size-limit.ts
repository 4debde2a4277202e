import type { Issues } from './issues';

/** What a file may come to; definitions that multiply each other reach any size within ten levels. */
const MAX_NODES = 100_000;
const MAX_EDGES = 500_000;

/** Ends the opening of blocks where a graph grows beyond reason. Once exceeded it admits nothing more, and it is reported once. */
export class SizeLimit {
  private over = false;

  constructor(private readonly issues: Issues) {}

  get exceeded(): boolean {
    return this.over;
  }

  /** Whether one more node may join those there are. */
  admitsNode(count: number): boolean {
    return this.admits(count, MAX_NODES, 'nodes');
  }

  /** Whether one more edge may join those there are. */
  admitsEdge(count: number): boolean {
    return this.admits(count, MAX_EDGES, 'edges');
  }

  private admits(count: number, limit: number, what: 'nodes' | 'edges'): boolean {
    if (!this.over && count >= limit) {
      this.over = true;
      this.issues.add(
        'graph_too_large',
        null,
        `The graph comes to more than ${limit} ${what} once its blocks are opened: use fewer or smaller blocks`,
        { limit, what },
      );
    }
    return !this.over;
  }
}

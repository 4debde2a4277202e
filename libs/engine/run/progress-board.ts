import type { Plan, PlannedNode } from '../plan-types';

type State = 'waiting' | 'running' | 'done' | 'failed' | 'skipped' | 'stopped';

/**
 * Where each node of a plan stands, and which may start next: always the one that comes first in the plan among those whose producers
 * are done.
 */
export class ProgressBoard {
  private readonly states = new Map<string, State>();
  private readonly counts = new Map<State, number>();
  private readonly missing = new Map<string, number>();
  private readonly consumers = new Map<string, PlannedNode[]>();
  private readonly positions = new Map<string, number>();
  /** Ready nodes, the last in the plan first. */
  private readonly ready: PlannedNode[] = [];

  constructor(private readonly plan: Plan) {
    for (const [position, node] of plan.nodes.entries()) {
      this.positions.set(node.id, position);
      this.move(node, 'waiting');
      const producers = producersOf(node);
      this.missing.set(node.id, producers.length);
      for (const producer of producers) {
        const list = this.consumers.get(producer);
        if (list) list.push(node);
        else this.consumers.set(producer, [node]);
      }
    }
    for (const node of plan.nodes) if (this.missing.get(node.id) === 0) this.enqueue(node);
  }

  /** How many nodes read from this one. */
  readers(id: string): number {
    return this.consumers.get(id)?.length ?? 0;
  }

  state(id: string): State {
    return this.states.get(id) ?? 'waiting';
  }

  count(state: State): number {
    return this.counts.get(state) ?? 0;
  }

  /** Takes the next node to start; null when none is ready. */
  next(): PlannedNode | null {
    const node = this.ready.pop() ?? null;
    if (node) this.move(node, 'running');
    return node;
  }

  done(node: PlannedNode): void {
    this.move(node, 'done');
    for (const consumer of this.consumers.get(node.id) ?? []) {
      const missing = (this.missing.get(consumer.id) ?? 0) - 1;
      this.missing.set(consumer.id, missing);
      if (missing === 0 && this.state(consumer.id) === 'waiting') this.enqueue(consumer);
    }
  }

  stopped(node: PlannedNode): void {
    this.move(node, 'stopped');
  }

  /** Marks the node failed and everything below it skipped; returns the skipped ones in the plan's order. */
  failed(node: PlannedNode): readonly PlannedNode[] {
    this.move(node, 'failed');
    const skipped = new Set<PlannedNode>();
    const queue = [node];
    for (let at = queue.pop(); at; at = queue.pop()) {
      for (const consumer of this.consumers.get(at.id) ?? []) {
        if (this.state(consumer.id) !== 'waiting') continue;
        this.move(consumer, 'skipped');
        skipped.add(consumer);
        queue.push(consumer);
      }
    }
    return [...skipped].sort((a, b) => this.position(a) - this.position(b));
  }

  /** Inserts by place in the plan: few are ready at once, so a scan is cheap. */
  private enqueue(node: PlannedNode): void {
    const position = this.position(node);
    let [low, high] = [0, this.ready.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.position(this.ready[middle] as PlannedNode) > position) low = middle + 1;
      else high = middle;
    }
    this.ready.splice(low, 0, node);
  }

  private move(node: PlannedNode, state: State): void {
    const before = this.states.get(node.id);
    if (before) this.counts.set(before, this.count(before) - 1);
    this.states.set(node.id, state);
    this.counts.set(state, this.count(state) + 1);
  }

  private position(node: PlannedNode): number {
    return this.positions.get(node.id) ?? 0;
  }
}

/** Ids of the nodes that a node reads from, each once. */
export function producersOf(node: PlannedNode): readonly string[] {
  return [...new Set(Object.values(node.inputs).map((source) => source.node))];
}

import type { FlatGraph, FlatNode } from './flat-graph';
import { indexNodes } from './flat-graph';

/** Nodes in topological order over data edges, ties by file order; or one cycle, as the ids along it. */
export type Order = { readonly nodes: readonly FlatNode[] } | { readonly cycle: readonly FlatNode[] };

/** Orders the graph (Kahn's algorithm, the ready node that comes first in the file next). Edges to missing nodes are ignored. */
export function topologicalOrder(graph: FlatGraph): Order {
  const nodes = [...indexNodes(graph.nodes).values()];
  const position = new Map(nodes.map((node, index) => [node.id, index]));
  const waiting = new Int32Array(nodes.length);
  const consumers: number[][] = nodes.map(() => []);
  for (const edge of graph.data) {
    const source = position.get(edge.source);
    const target = position.get(edge.target);
    if (source === undefined || target === undefined) continue;
    consumers[source]?.push(target);
    waiting[target] = (waiting[target] ?? 0) + 1;
  }
  const ready = new MinHeap();
  nodes.forEach((_, index) => {
    if (waiting[index] === 0) ready.push(index);
  });
  const order: FlatNode[] = [];
  const done = new Uint8Array(nodes.length);
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    order.push(nodes[next] as FlatNode);
    done[next] = 1;
    for (const consumer of consumers[next] ?? []) {
      waiting[consumer] = (waiting[consumer] ?? 0) - 1;
      if (waiting[consumer] === 0) ready.push(consumer);
    }
  }
  if (order.length === nodes.length) return { nodes: order };
  const producers: number[][] = nodes.map(() => []);
  for (const edge of graph.data) {
    const source = position.get(edge.source);
    const target = position.get(edge.target);
    if (source !== undefined && target !== undefined) producers[target]?.push(source);
  }
  return { cycle: findCycle(producers, done).map((index) => nodes[index] as FlatNode) };
}

/** Walks backwards from a node that is not done: each such node has a producer that is not done either, so the walk closes. */
function findCycle(producers: readonly (readonly number[])[], done: Uint8Array): number[] {
  const seenAt = new Map<number, number>();
  const path: number[] = [];
  let at = done.indexOf(0);
  while (!seenAt.has(at)) {
    seenAt.set(at, path.length);
    path.push(at);
    at = producers[at]?.find((producer) => done[producer] === 0) as number;
  }
  const cycle = path.slice(seenAt.get(at)).reverse();
  // Begin with the node that comes first in the file, so that the message does not depend on where the walk began.
  const first = cycle.indexOf(cycle.reduce((a, b) => Math.min(a, b)));
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

class MinHeap {
  private readonly items: number[] = [];

  push(item: number): void {
    const { items } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as number;
      if (above <= item) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): number | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && (items[child + 1] as number) < (items[child] as number)) child += 1;
      if ((items[child] as number) >= last) break;
      items[at] = items[child] as number;
      at = child;
    }
    items[at] = last;
    return top;
  }
}

import type { Block } from './blocks';
import type { FlatEdge } from './flat-graph';
import type { Issues } from './issues';
import { listNames } from './json';
import type { SizeLimit } from './size-limit';

/** An instance that was opened, and the block that lies in it. */
export interface Opened {
  readonly block: Block;
  /** What the ids of the block's nodes begin with in the flat graph. */
  readonly prefix: string;
  /** The file's node that holds the instance. */
  readonly container: string;
  readonly kind: 'preset' | 'subgraph';
  /** The definition's name. */
  readonly name: string;
}

/** The ports of an opened instance, as ids and ports of what lies inside (which may be an instance again). */
interface Boundary {
  readonly kind: 'preset' | 'subgraph';
  readonly container: string;
  readonly inputs: ReadonlyMap<string, Port>;
  readonly outputs: ReadonlyMap<string, Port>;
  readonly triggers: readonly string[];
}

interface Port {
  readonly node: string;
  readonly port: string;
}

/** The boundaries of all opened instances: edges that end at one are led on to the nodes inside. */
export class Boundaries {
  private readonly opened = new Map<string, Boundary>();
  private readonly checked = new Set<string>();

  constructor(private readonly issues: Issues) {}

  /** Whether no instance was opened: every edge is what it says. */
  get empty(): boolean {
    return this.opened.size === 0;
  }

  /** Whether an instance of this id was opened. */
  has(id: string): boolean {
    return this.opened.has(id);
  }

  /** Takes in an instance. Ports of its definition that lead nowhere are reported once a definition. */
  open(id: string, instance: Opened): void {
    this.check(instance);
    const { block, prefix, container, kind } = instance;
    const inside = (inner: Port): Port => ({ node: prefix + inner.node, port: inner.port });
    this.opened.set(id, {
      kind,
      container,
      inputs: new Map([...block.inputs].map(([name, inner]) => [name, inside(inner)])),
      outputs: new Map([...block.outputs].map(([name, inner]) => [name, inside(inner)])),
      triggers: block.triggers.map((inner) => prefix + inner),
    });
  }

  /** The edge between the nodes that its ends lead to; null, with an issue, where an instance lacks the port. */
  connect(edge: FlatEdge): FlatEdge | null {
    const source = this.follow(edge, { node: edge.source, port: edge.sourcePort }, 'outputs');
    const target = this.follow(edge, { node: edge.target, port: edge.targetPort }, 'inputs');
    if (source === null || target === null) return null;
    return { id: edge.id, source: source.node, sourcePort: source.port, target: target.node, targetPort: target.port };
  }

  /** Trigger edges, those to an instance replaced by one for each node that it begins with. */
  fanOut(triggers: readonly FlatEdge[], size: SizeLimit): readonly FlatEdge[] {
    const done: FlatEdge[] = [];
    const refused = new Set<string>();
    for (const edge of triggers) {
      const stack: FlatEdge[] = [edge];
      for (let next = stack.pop(); next && !size.exceeded; next = stack.pop()) {
        const boundary = this.opened.get(next.target);
        if (!boundary) {
          if (size.admitsEdge(done.length)) done.push(next);
          continue;
        }
        if (boundary.triggers.length === 0 && !refused.has(next.target)) {
          refused.add(next.target);
          this.issues.add(
            'empty_trigger_block',
            boundary.container,
            `The ${boundary.kind} "${next.target}" is triggered but has no node to begin with: add one or remove the trigger`,
            { node: next.target, edge: next.id },
          );
        }
        for (let index = boundary.triggers.length - 1; index >= 0; index -= 1) {
          stack.push({ ...next, id: `${next.id}#${index}`, target: boundary.triggers[index] as string });
        }
      }
    }
    return done;
  }

  private follow(edge: FlatEdge, outer: Port, side: 'inputs' | 'outputs'): Port | null {
    let at = outer;
    for (let boundary = this.opened.get(at.node); boundary; boundary = this.opened.get(at.node)) {
      const inner = boundary[side].get(at.port);
      if (inner === undefined) {
        const word = side === 'inputs' ? 'input' : 'output';
        const code = boundary.kind === 'subgraph' ? 'unknown_boundary_port' : (`unknown_${word}_port` as const);
        this.issues.add(
          code,
          boundary.container,
          `Edge "${edge.id}" ${side === 'inputs' ? 'enters' : 'leaves'} the ${boundary.kind} "${at.node}" at the ${word} "${at.port}", which it does not have; its ${side} are ${listNames([...boundary[side].keys()])}`,
          { edge: edge.id, node: at.node, port: at.port, other: side === 'inputs' ? edge.source : edge.target },
        );
        return null;
      }
      at = inner;
    }
    return at;
  }

  private check({ block, kind, name, container }: Opened): void {
    const key = `${kind}:${name}`;
    if (this.checked.has(key)) return;
    this.checked.add(key);
    const ids = new Set(block.nodes.map((node) => node.id));
    const code = kind === 'preset' ? 'malformed_preset' : 'malformed_subgraph';
    for (const [port, inner] of [...block.inputs, ...block.outputs]) {
      if (!ids.has(inner.node)) {
        this.issues.add(
          code,
          container,
          `Port "${port}" of the ${kind} "${name}" leads to the inner node "${inner.node}", which it does not have`,
          { [kind]: name, port, inner: inner.node },
        );
      }
    }
    for (const target of block.triggers) {
      if (!ids.has(target)) {
        this.issues.add(
          'unknown_trigger_target',
          container,
          `Subgraph "${name}" names the trigger target "${target}", which it does not have`,
          { [kind]: name, target },
        );
      }
    }
  }
}

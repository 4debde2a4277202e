import type { WeightStore } from '@cdui/node-sdk';
import type { ModuleRef, Scope } from '@cdui/tensor/runtime';
import type { PlannedNode } from '../plan-types';
import { hold, release } from './handles';
import type { ModuleStore } from './module-store';

/** Where modules are kept for the next run, and under which graph's name. */
export interface KeptModules {
  readonly store: ModuleStore;
  readonly graphId: string;
}

/**
 * The modules that the layer nodes of one run leave behind: for the backward pass, which needs them after their nodes are done, and for the next
 * run of a canvas session. They live to the end of the run, whoever drops them meanwhile.
 */
export class RunWeights {
  private readonly held = new Map<string, readonly ModuleRef[]>();

  constructor(readonly kept: KeptModules | null) {}

  /** What one execution of a node finds and leaves. */
  of(node: PlannedNode, scope: Scope): ExecutionWeights {
    return new ExecutionWeights(this, node, scope);
  }

  /** The modules of a node that ended well. */
  modulesOf(node: PlannedNode): readonly ModuleRef[] {
    return this.held.get(node.id) ?? [];
  }

  take(node: PlannedNode, modules: ReadonlyMap<string, ModuleRef>): void {
    this.held.set(node.id, [...modules.values()]);
    if (this.kept && modules.size > 0) this.kept.store.replace(this.kept.graphId, node, modules);
  }

  close(): void {
    for (const modules of this.held.values()) release(modules);
    this.held.clear();
  }
}

/** Nothing of a failed attempt is kept: whether its modules were made at all is not known. */
export class ExecutionWeights implements WeightStore {
  private readonly used = new Map<string, ModuleRef>();

  constructor(
    private readonly run: RunWeights,
    private readonly node: PlannedNode,
    private readonly scope: Scope,
  ) {}

  find(structure: string): ModuleRef | null {
    const { kept } = this.run;
    const used = this.used.get(structure);
    if (used || !kept) return used ?? null;
    const found = kept.store.find({ graphId: kept.graphId, nodeId: this.node.id }, structure);
    if (found) this.keep(structure, found);
    return found;
  }

  keep(structure: string, module: ModuleRef): void {
    hold([module], this.scope);
    const before = this.used.get(structure);
    this.used.set(structure, module);
    if (before) before.release();
  }

  /** The execution ended well. */
  commit(): void {
    this.run.take(this.node, new Map(this.used));
    this.used.clear();
  }

  /** Gives back what is not committed. */
  close(): void {
    release([...this.used.values()]);
    this.used.clear();
  }
}

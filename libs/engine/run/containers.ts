import type { NodeStatus, OutputEntry } from '@cdui/protocol';
import type { EngineObserver, NodeOrigin, StatusReport } from '../observer';
import type { Plan } from '../plan-types';

/** From the weakest to the strongest: what a container ends as when its inner nodes end differently. */
const STRENGTH: readonly NodeStatus[] = ['cached', 'skipped', 'completed'];

interface Container {
  open: number;
  started: boolean;
  /** Whether an error or a stop was already reported for it: nothing weaker follows. */
  broken: boolean;
  strongest: number;
  readonly outputs: OutputEntry[];
}

/**
 * Reports statuses to the observer, and those of nodes inside a preset or subgraph instance a second time for the instance: `running`
 * with the first inner start; progress, errors and stops at once; the end when every inner node ended.
 */
export class StatusReporter {
  private readonly containers: ReadonlyMap<string, Container>;

  constructor(
    plan: Plan,
    private readonly observer: Pick<EngineObserver, 'status'>,
  ) {
    this.containers = new Map(
      Object.entries(plan.containers).map(([id, inner]) => [
        id,
        { open: inner.length, started: false, broken: false, strongest: -1, outputs: [] },
      ]),
    );
  }

  /** Whether the observer is below its high-water mark. */
  report(report: StatusReport): boolean {
    const { origin, status } = report;
    if (origin.innerId === null) return this.observer.status(report);
    // An inner node's progress shows on the instance only.
    const below = status === 'progress' || this.observer.status(report);
    const container = this.containers.get(origin.nodeId);
    return container ? this.follow(container, { nodeId: origin.nodeId, innerId: null }, report) && below : below;
  }

  private follow(container: Container, origin: NodeOrigin, report: StatusReport): boolean {
    const { status, ports: _ports, ...rest } = report;
    switch (status) {
      case 'running':
        if (container.started) return true;
        container.started = true;
        return this.observer.status({ origin, status });
      case 'progress':
        return this.observer.status({ ...rest, origin, status });
      case 'error':
      case 'interrupted':
        container.open -= 1;
        container.broken = true;
        return this.observer.status({ ...rest, origin, status });
      case 'completed':
      case 'cached':
      case 'skipped': {
        container.open -= 1;
        container.strongest = Math.max(container.strongest, STRENGTH.indexOf(status));
        container.outputs.push(...(report.outputs ?? []));
        const final = STRENGTH[container.strongest];
        if (container.open > 0 || container.broken || final === undefined) return true;
        return this.observer.status({ origin, status: final, outputs: container.outputs });
      }
    }
  }
}

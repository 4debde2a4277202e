import type { Reason } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import type { AgentWorld } from './world';

/** Whether the disk takes another run. */
export class Room {
  /** Where there is no room; null when there is. */
  lack: Reason | null = null;
  private looking: Promise<void> | null = null;

  /** @param changed called when there is no room any more, or again */
  constructor(
    private readonly world: Pick<AgentWorld, 'spools' | 'log'>,
    private readonly changed: () => void,
  ) {}

  /** Looks: a run that is taken without room would only fail. */
  look(): Promise<void> {
    this.looking ??= this.probe().finally(() => (this.looking = null));
    return this.looking;
  }

  set(lack: Reason | null): void {
    const changes = (lack === null) !== (this.lack === null);
    this.lack = lack;
    if (changes) this.changed();
  }

  private async probe(): Promise<void> {
    const { spools, log } = this.world;
    const hasRoom = await spools.hasRoom();
    if (hasRoom === (this.lack === null)) return;
    if (hasRoom) log.info('There is room on the disk again: runs are taken');
    else log.warn(`There is no room left in ${spools.root}: no new runs are taken`);
    this.set(hasRoom ? null : reasonOf('disk_full', { path: spools.root }));
  }
}

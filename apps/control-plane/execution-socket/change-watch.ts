import type { Observable, Subscription } from 'rxjs';
import type { Outlet } from './outlet';

/** Tells a socket which runs, or which workers, changed: of many changes to one while the socket is busy, only the newest. */
export class ChangeWatch {
  private readonly changed = new Map<string, number>();
  private readonly subscription: Subscription;
  private sending = false;

  constructor(
    changes: Observable<{ readonly id: string; readonly rev: number }>,
    private readonly type: 'run_changed' | 'worker_changed',
    private readonly outlet: Outlet,
  ) {
    this.subscription = changes.subscribe(({ id, rev }) => {
      this.changed.set(id, rev);
      if (!this.sending) void this.send();
    });
  }

  end(): void {
    this.subscription.unsubscribe();
    this.changed.clear();
  }

  private async send(): Promise<void> {
    this.sending = true;
    // What changes within one turn of the event loop goes together.
    await new Promise(setImmediate);
    while (this.changed.size > 0) {
      const frames = [...this.changed].map(([id, rev]) => JSON.stringify({ type: this.type, id, rev }));
      this.changed.clear();
      await this.outlet.send(frames);
    }
    this.sending = false;
  }
}

/**
 * Gives what is posted to its handler, one at a time and in order. A handler that answers a promise is waited for; as long as it does not, what is
 * posted is handled before `post` returns. A handler must not throw or reject.
 */
export class Mailbox<I> {
  private readonly waiting: I[] = [];
  private busy = false;
  private resting: (() => void)[] = [];

  constructor(private readonly handle: (input: I) => void | Promise<void>) {}

  post(input: I): void {
    this.waiting.push(input);
    if (!this.busy) this.work();
  }

  /** Resolves when nothing is being handled and nothing waits. */
  idle(): Promise<void> {
    return this.busy ? new Promise((resolve) => this.resting.push(resolve)) : Promise.resolve();
  }

  private work(): void {
    this.busy = true;
    for (let input = this.waiting.shift(); input !== undefined; input = this.waiting.shift()) {
      const pending = this.handle(input);
      if (!pending) continue;
      void pending.then(() => this.work());
      return;
    }
    this.busy = false;
    for (const resolve of this.resting.splice(0)) resolve();
  }
}

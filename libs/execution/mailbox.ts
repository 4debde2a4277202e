/**
 * Gives what is posted to its handler, one at a time and in order. A handler that answers a promise is waited for; as long as it does not, what is
 * posted is handled before `post` returns. A handler must not throw or reject.
 */
export class Mailbox<I> {
  private readonly waiting: I[] = [];
  private busy = false;

  constructor(private readonly handle: (input: I) => void | Promise<void>) {}

  post(input: I): void {
    this.waiting.push(input);
    if (!this.busy) this.work();
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
  }
}

/** Why nothing new starts any more, and the signal that nodes see. */
export class StopFlag {
  private readonly controller = new AbortController();
  private readonly forward: () => void;

  /**
   * @param outer aborted by whoever runs the graph, with the reason
   * @param poll the reason as shared memory has it, null while there is none
   */
  constructor(
    private readonly outer: AbortSignal,
    private readonly poll: () => string | null = () => null,
  ) {
    this.forward = () => this.controller.abort(outer.reason);
    if (outer.aborted) this.forward();
    else outer.addEventListener('abort', this.forward, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether nodes should stop; looks into shared memory too, so that a loop which never yields may ask. */
  get requested(): boolean {
    if (this.controller.signal.aborted) return true;
    const reason = this.poll();
    if (reason === null) return false;
    this.controller.abort(reason);
    return true;
  }

  /** The reason from outside; null when nobody outside asked. */
  get outerReason(): string | null {
    if (this.outer.aborted) return typeof this.outer.reason === 'string' ? this.outer.reason : 'user';
    return this.poll();
  }

  /** Stops the nodes that still run because another one failed. */
  abortForFailure(): void {
    this.controller.abort('failed');
  }

  close(): void {
    this.outer.removeEventListener('abort', this.forward);
  }
}

import type { PortValue } from '@cdui/node-sdk';
import type { Handle, Scope } from '@cdui/tensor/runtime';
import type { Outputs } from './handles';
import { handlesOfOutputs, hold, release } from './handles';

interface Result {
  readonly outputs: Outputs;
  readonly handles: readonly Handle[];
  /** Nodes that have still to read it. */
  readers: number;
}

/** The results of one run, each kept until its last reader is done, or to the end of the run where something else wants them all. */
export class ResultStore {
  private readonly results = new Map<string, Result>();

  /** @param keepAll whether results stay when nobody has to read them any more */
  constructor(private readonly keepAll: boolean) {}

  /** @param scope of the node, still open */
  put(node: string, outputs: Outputs, readers: number, scope: Scope): void {
    if (readers === 0 && !this.keepAll) return;
    const handles = handlesOfOutputs(outputs);
    hold(handles, scope);
    this.results.set(node, { outputs, handles, readers });
  }

  get(node: string, port: string): PortValue | undefined {
    return this.results.get(node)?.outputs[port];
  }

  /** One reader of this result is done with it, or will never read it. */
  read(node: string): void {
    const result = this.results.get(node);
    if (!result) return;
    result.readers -= 1;
    if (result.readers <= 0 && !this.keepAll) this.drop(node, result);
  }

  outputsOf(node: string): Outputs | undefined {
    return this.results.get(node)?.outputs;
  }

  clear(): void {
    for (const [node, result] of this.results) this.drop(node, result);
  }

  private drop(node: string, result: Result): void {
    this.results.delete(node);
    release(result.handles);
  }
}

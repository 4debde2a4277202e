import { RuntimeError } from '../errors';
import type { MemoryFacts, RuntimeFacts, Scope, TensorRuntime } from '../runtime';
import type { Hello, Replies, Transport } from '../wire';
import { Connection } from './connection';
import { ClientScope } from './scope';
import type { ScopeHost, ScopeOptions } from './scope-core';

export interface ClientOptions {
  /** Milliseconds of a steady clock; the step window measures with it. */
  readonly now?: () => number;
  /** Seeds scopes that are opened without a seed. */
  readonly randomSeed?: () => number;
}

/** The one client of every runtime: handles, shape inference, scopes, flow control and errors over any transport. */
export class RuntimeClient implements TensorRuntime {
  readonly facts: RuntimeFacts;
  private readonly host: ScopeHost;

  constructor(
    private readonly connection: Connection,
    hello: Hello,
    options: ClientOptions,
  ) {
    const { kind, version, device, deviceName, pid, threads, numerics } = hello;
    this.facts = { kind, version, device, deviceName, pid, threads, numerics, precisions: new Set(hello.precisions) };
    this.host = {
      runtime: this,
      connection,
      device,
      precisions: this.facts.precisions,
      now: options.now ?? (() => performance.now()),
      randomSeed: options.randomSeed ?? (() => globalThis.crypto.getRandomValues(new Uint32Array(1))[0]!),
    };
  }

  get gone(): Promise<RuntimeError | null> {
    return this.connection.gone;
  }

  openScope(options: ScopeOptions): Scope {
    if (this.connection.ended) throw this.connection.ended;
    return new ClientScope(this.host, options);
  }

  ready(): Promise<void> {
    return this.connection.ready();
  }

  memory(): Promise<MemoryFacts> {
    return this.connection.askAsClient<Replies['memory']>(['memory']);
  }

  resetPeak(): void {
    this.connection.sendAsClient(['resetPeak']);
  }

  async releaseCache(): Promise<void> {
    await this.connection.askAsClient<Replies['releaseCache']>(['releaseCache']);
  }

  close(options: { force?: boolean } = {}): Promise<void> {
    return this.connection.close(options.force ?? false);
  }
}

/**
 * Connects a client to a transport and waits for the far side's greeting.
 * @throws RuntimeError `start_failed` when it does not come, `protocol` when it speaks another version
 */
export async function createClient(transport: Transport, options: ClientOptions = {}): Promise<TensorRuntime> {
  const connection = new Connection(transport);
  const lost = connection.gone.then((error): never => {
    const { message = 'the runtime was closed before it was ready', code: _, ...info } = error ?? {};
    throw new RuntimeError('start_failed', message, info);
  });
  lost.catch(() => undefined);
  const hello = await Promise.race([transport.hello, lost]);
  if (hello.protocol !== 1) {
    await transport.close({ force: true });
    throw new RuntimeError('protocol', `the runtime speaks protocol ${String(hello.protocol)}; this program needs 1`);
  }
  return new RuntimeClient(connection, hello, options);
}

import type { Worker } from 'node:worker_threads';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CodedError } from '@cdui/protocol';
import type {
  CatalogCall,
  CatalogCalls,
  CatalogNotice,
  CatalogRequest,
  CatalogResponse,
  CatalogThreadData,
} from './messages';
import { startCatalogThread } from './start-thread';

/**
 * Asks the thread that holds the node code. The server's event loop never runs it: a custom node file that loops while
 * it loads delays only this thread's answers.
 */
@Injectable()
export class CatalogClient implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('nodes');
  private worker: Worker | null = null;
  private nextId = 1;
  private readonly reloaded: (() => void)[] = [];
  private readonly pending = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();

  /** @param early a thread that was started before the rest of the server was loaded, so that both load at once */
  constructor(
    private readonly folders: CatalogThreadData,
    early?: Worker,
  ) {
    if (early) this.worker = this.listenTo(early);
  }

  /** The server is ready when the catalogue is. */
  async onModuleInit(): Promise<void> {
    await this.call('catalogue');
  }

  async onApplicationShutdown(): Promise<void> {
    await this.worker?.terminate();
  }

  call<C extends CatalogCall>(call: C, ...args: CatalogCalls[C]['args']): Promise<CatalogCalls[C]['answer']> {
    return this.send(call, args, []);
  }

  /** @param body handed over: its memory must be its own, and is gone from here */
  readSubmission(body: Uint8Array): Promise<CatalogCalls['readSubmission']['answer']> {
    return this.send('readSubmission', [body], [body.buffer as ArrayBuffer]);
  }

  /** @param listener called when the folders were read again */
  onReload(listener: () => void): void {
    this.reloaded.push(listener);
  }

  private send<C extends CatalogCall>(
    call: C,
    args: CatalogCalls[C]['args'],
    handedOver: readonly ArrayBuffer[],
  ): Promise<CatalogCalls[C]['answer']> {
    const worker = (this.worker ??= this.listenTo(startCatalogThread(this.folders)));
    const request: CatalogRequest = { id: this.nextId++, call, args };
    return new Promise((resolve, reject) => {
      this.pending.set(request.id, { resolve: (answer) => resolve(answer as CatalogCalls[C]['answer']), reject });
      worker.postMessage(request, handedOver);
    });
  }

  private noticed({ broken }: CatalogNotice): void {
    for (const { file, message } of broken)
      this.logger.warn({ msg: `Custom node file ${file} cannot be used: ${message}`, file });
    for (const listener of this.reloaded) listener();
  }

  private listenTo(worker: Worker): Worker {
    worker.on('message', (response: CatalogResponse | CatalogNotice) => {
      if ('broken' in response) return this.noticed(response);
      const waiting = this.pending.get(response.id);
      this.pending.delete(response.id);
      if (response.ok) waiting?.resolve(response.answer);
      else waiting?.reject(new CodedError(response.code, response.message));
    });
    let failure: Error | null = null;
    worker.on('error', (error) => (failure = error));
    // A custom node file can end its thread; the next call starts a fresh one.
    worker.on('exit', () => {
      if (this.worker === worker) this.worker = null;
      const error = new CodedError('catalogue_ended', `The catalogue thread ended: ${failure?.message ?? 'stopped'}`);
      for (const waiting of this.pending.values()) waiting.reject(error);
      this.pending.clear();
    });
    return worker;
  }
}

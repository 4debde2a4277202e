import type { Fingerprint } from '@cdui/execution';
import type { DeviceFacts, HelloFrame, Reason, RejectFrame, ServerFrame } from '@cdui/protocol';
import { WORKER_CLOSE } from '@cdui/protocol';
import type { KnownWorker } from '../runs/world';
import { DeviceHistory } from './device-history';
import { type CatalogDifference, compareCatalogs } from './handshake';
import { identitiesOf } from './identities';
import type { RemoteRun, RunHome } from './remote-run';
import type { WorkerConnection } from './worker-connection';
import type { WorkerCounts } from './worker-counts';
import type { StoredWorker, WorkerWorld } from './world';

const NOTHING: CatalogDifference = { missing: [], extra: [], changed: [] };

/** A worker that this server knows, connected or not. */
export class Worker implements KnownWorker, RunHome {
  /** Its socket; null while it is away. */
  connection: WorkerConnection | null = null;
  hello: HelloFrame | null = null;
  /** What it said under an earlier server; null when it was not there. */
  remembered: StoredWorker | null = null;
  devicesNow: readonly DeviceFacts[] = [];
  /** Runs that it says it executes. */
  running: readonly string[] = [];
  connectedAt: number | null = null;
  lastSeenAt: number | null = null;
  lastReject: RejectFrame | null = null;
  /** Whether it told after its hello which runs it has: nothing is given to it before. */
  isReady = false;
  /** Whether this server wants it to take no new runs. */
  isDrained = false;
  /** Whether it said that it takes none. */
  isDraining = false;
  /** Whether it runs on the server's own machine. */
  sameHost = false;
  readonly runs = new Map<string, RemoteRun>();
  readonly history = new DeviceHistory();
  private environment: { readonly document: object; readonly is: Fingerprint } | null = null;
  private difference: { readonly mine: object; readonly theirs: object; readonly is: CatalogDifference } | null = null;

  constructor(
    readonly id: string,
    private readonly world: WorkerWorld,
    private readonly counts: WorkerCounts,
  ) {}

  get online(): boolean {
    return this.connection !== null && this.isReady;
  }

  get draining(): boolean {
    return this.isDrained || this.isDraining;
  }

  /** `disconnected`: it is away, and runs wait for it. */
  get status(): 'online' | 'offline' | 'disconnected' {
    if (this.online) return 'online';
    return this.runs.size > 0 ? 'disconnected' : 'offline';
  }

  get devices(): readonly string[] {
    return this.devicesNow.map(({ device }) => device);
  }

  get identities(): Readonly<Record<string, string>> {
    return identitiesOf(this.devicesNow, { id: this.hello?.machine_id ?? null, isServers: this.sameHost });
  }

  /** Whether it has every node type of this server; one that did not tell what it has does not count as such. */
  get complete(): boolean {
    if (!this.hello || this.hello.catalog_hash === null) return false;
    const { missing, changed } = this.catalogDifference;
    return missing.length + changed.length === 0;
  }

  get fingerprint(): Fingerprint | undefined {
    const document = this.hello?.fingerprint;
    if (!document) return undefined;
    if (this.environment?.document !== document) this.environment = { document, is: this.world.fingerprint(document) };
    return this.environment.is;
  }

  get capabilities(): readonly string[] {
    return this.hello?.capabilities ?? this.remembered?.capabilities ?? [];
  }

  hasCapability(name: string): boolean {
    return this.capabilities.includes(name);
  }

  /** How its node types differ from this server's. */
  get catalogDifference(): CatalogDifference {
    const theirs = this.hello?.node_type_hashes;
    if (!theirs || this.hello?.catalog_hash === null) return NOTHING;
    const mine = this.world.nodeTypes();
    if (this.difference?.mine !== mine || this.difference.theirs !== theirs) {
      this.difference = { mine, theirs, is: compareCatalogs(mine, theirs) };
    }
    return this.difference.is;
  }

  lacks(nodeTypes: readonly string[]): readonly string[] {
    const { missing, changed } = this.catalogDifference;
    return nodeTypes.filter((type) => missing.includes(type) || changed.includes(type));
  }

  send(frame: ServerFrame): void {
    if (this.connection === null) return;
    if (frame.type === 'ack') this.counts.acks += 1;
    this.connection.send(frame);
  }

  hold(): () => void {
    const { connection } = this;
    connection?.pause();
    return () => connection?.resume();
  }

  cutOff(reason: Reason): void {
    this.connection?.close(WORKER_CLOSE.silent, reason.message.slice(0, 120), reason);
  }
}

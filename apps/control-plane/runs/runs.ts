import type { RunFilter } from '@cdui/execution';
import type {
  MoveTo,
  RunCancelled,
  RunDeleted,
  RunDetail,
  RunList,
  RunMoved,
  RunStatus,
  RunSubmitted,
} from '@cdui/protocol';
import type { Observable } from 'rxjs';

/** A run's row changed; `rev` grows with every change of any run. */
export interface RunChange {
  readonly id: string;
  readonly rev: number;
  /** What it is now; null when it was deleted. */
  readonly status: RunStatus | null;
}

/** The runs of this server. Every method throws CodedErrors: `run_not_found`, `run_active`, `secrets_needed`, `invalid_...`, `target_unsupported`, ... */
export abstract class Runs {
  /** Accepts a run. When it resolves, the run is durable: it will be executed, or end with a reason. */
  abstract submit(body: unknown): Promise<RunSubmitted>;
  /** The same, of a body in JSON that nobody has read yet. @param bytes UTF-8, handed over: their memory may be gone afterwards */
  abstract submitJson(bytes: Uint8Array): Promise<RunSubmitted>;
  abstract list(filter: RunFilter): Promise<RunList>;
  abstract get(id: string): Promise<RunDetail>;
  /** @throws `run_not_found` */
  abstract state(id: string): Promise<{ readonly status: RunStatus; readonly active: boolean }>;
  /** Idempotent: an ended run answers its status and `cancelled: false`. */
  abstract cancel(id: string): Promise<RunCancelled>;
  /** A new run of the same graph and options. @throws `secrets_needed` when the graph had secrets that are gone */
  abstract retry(id: string): Promise<RunSubmitted>;
  /** Lets a waiting run stand elsewhere in its queue. @throws `run_not_waiting`, `run_in_other_queue` */
  abstract move(id: string, to: MoveTo): Promise<RunMoved>;
  /** @throws `run_active` while it has not ended */
  abstract delete(id: string): Promise<RunDeleted>;
  abstract readonly changes: Observable<RunChange>;
}

/**
 * What one canvas (a socket) keeps between its runs: a run host with the execution cache and persistent weights. One run at a time; the run
 * itself belongs to the server and is in the log like any other.
 */
export interface CanvasSession {
  /** Like `Runs.submit`, on the interactive lane: it starts at once. @throws `interactive_limit` */
  execute(request: unknown): Promise<RunSubmitted>;
  /** Forgets the results of earlier runs. */
  clearCache(): void;
  /** The socket is gone: a run goes on, and the host ends when nothing runs in it. */
  close(): Promise<void>;
}

export abstract class CanvasSessions {
  abstract open(): CanvasSession;
}

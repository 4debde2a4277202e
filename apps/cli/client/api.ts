import { ApiClient, ApiError, ConnectionError, type RequestOf, type Schema } from '@cdui/api-client';
import type { RunStatus } from '@cdui/protocol';
import { EXIT } from '../exit-codes';
import { Failure } from '../failure';
import type { Environment } from '../server/data-folder';
import { findPlace, type Place, type PlaceChoice } from './place';

/** The server cannot be reached, or says that it cannot answer now. What was asked for may be tried again. */
export class Unreachable extends Failure {}

export type Run = Schema<'RunRowDto'>;
export type RunDetail = Schema<'RunDetailDto'>;
export type RunEvents = Schema<'RunEventsDto'>;
export type RunEvent = Schema<'RunEventDto'>;
export type Artifact = Schema<'ArtifactDto'>;
export type Submission = Schema<'SubmissionDto'>;
export type RunListQuery = RequestOf<'/api/runs', 'get'>['query'];

/** A part of a console log. */
export interface LogPart {
  readonly bytes: Uint8Array;
  /** Where the bytes begin: later than asked for when those were dropped. */
  readonly offset: number;
  /** Where to go on reading. */
  readonly next: number;
  readonly status: RunStatus;
  /** Whether more may come. */
  readonly active: boolean;
}

/** Longer than any long poll: what has not begun to answer by then will not. */
const ANSWER_MS = 90_000;

/** The server's REST interface for commands: every failure is a sentence that says what to do. */
export class Api {
  private place: Place;
  private client!: ApiClient;

  constructor(
    private readonly choice: PlaceChoice,
    private readonly env: Environment,
  ) {
    this.place = this.relocate();
  }

  get url(): string {
    return this.place.url;
  }

  /** Looks again where the server is: after a restart it has another token, and perhaps another port. */
  relocate(): Place {
    this.place = findPlace(this.choice, this.env);
    this.client = new ApiClient({ url: this.place.url, token: () => this.place.token });
    return this.place;
  }

  /** Asks something that needs no token. */
  read<T>(ask: (client: ApiClient, signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.call(ask, false, signal);
  }

  /** Asks for something that only who has the session token may ask for. */
  order<T>(ask: (client: ApiClient, signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.call(ask, true, signal);
  }

  run(id: string, signal?: AbortSignal): Promise<RunDetail> {
    return this.read((client, signal) => client.get('/api/runs/{id}', { path: { id }, signal }), signal);
  }

  events(id: string, cursor: number, wait: number, signal?: AbortSignal): Promise<RunEvents> {
    const query = { cursor, wait, limit: 2000 };
    return this.read((client, signal) => client.get('/api/runs/{id}/events', { path: { id }, query, signal }), signal);
  }

  async artifacts(id: string, kind?: string): Promise<readonly Artifact[]> {
    const query = { ...(kind !== undefined && { kind }) };
    const answer = await this.read((client, signal) =>
      client.get('/api/runs/{id}/artifacts', { path: { id }, query, signal }),
    );
    return answer.artifacts;
  }

  log(id: string, offset: number, wait: number, signal?: AbortSignal): Promise<LogPart> {
    return this.read(async (client, signal) => {
      const response = await client.raw('/api/runs/{id}/log', { path: { id }, query: { offset, wait }, signal });
      const bytes = await response.arrayBuffer().then(
        (buffer) => new Uint8Array(buffer),
        (error: unknown) => {
          throw new ConnectionError(client.url, error);
        },
      );
      const { headers } = response;
      const start = Number(headers.get('X-Log-Offset') ?? offset);
      return {
        bytes,
        offset: start,
        next: Number(headers.get('X-Log-Next') ?? start + bytes.length),
        status: (headers.get('X-Run-Status') ?? 'running') as RunStatus,
        active: headers.get('X-Run-Active') === 'true',
      };
    }, signal);
  }

  private async call<T>(
    ask: (client: ApiClient, signal: AbortSignal) => Promise<T>,
    order: boolean,
    signal?: AbortSignal,
  ): Promise<T> {
    if (this.place.stale) throw this.noServer();
    if (order && this.place.token === null) throw this.noToken();
    const limit = AbortSignal.timeout(ANSWER_MS);
    const both = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      return await ask(this.client, both);
    } catch (error) {
      signal?.throwIfAborted();
      const { token, url } = this.place;
      // The token is another one since the server was started again; then the request was refused unread, and is made again.
      if (error instanceof ApiError && error.status === 403 && this.moved(token, url))
        return this.call(ask, order, signal);
      throw this.failure(error, limit.aborted);
    }
  }

  private moved(token: string | null, url: string): boolean {
    const { token: now, url: where } = this.relocate();
    return now !== token || where !== url;
  }

  private failure(error: unknown, late: boolean): unknown {
    const { url, tokenFile } = this.place;
    if (error instanceof ApiError) {
      const { status, code, message, details } = error;
      if (status === 503 && code !== 'interactive_limit') return new Unreachable(code, message, EXIT.failed, details);
      if (code === 'worker_not_found')
        return new Failure(
          code,
          `There is no worker "${String(details['id'])}": "cdui workers list" shows all`,
          EXIT.failed,
          details,
        );
      if (status !== 403) return new Failure(code, message, EXIT.failed, details);
      return new Failure(
        'wrong_token',
        `The server at ${url} does not accept the session token in ${tokenFile}: it belongs to another server. Is CODEFYUI_USER_DATA_DIR that server's folder?`,
      );
    }
    if (late) return new Unreachable('no_answer', `The server at ${url} does not answer within ${ANSWER_MS / 1000} s`);
    if (!(error instanceof ConnectionError)) return error;
    if (error.cause instanceof SyntaxError) {
      return new Failure('not_a_server', `What answers at ${url} is no cdui server: its answer is no JSON`);
    }
    const cause = (error.cause as { cause?: { code?: string } } | undefined)?.cause?.code;
    return new Unreachable(
      'no_server',
      `No server answers at ${url}${cause === undefined || cause === 'ECONNREFUSED' ? '' : ` (${cause})`}. Start one with "cdui start", or name another with --host and --port`,
      EXIT.failed,
      { url },
    );
  }

  private noServer(): Unreachable {
    return new Unreachable('no_server', `No server runs on ${this.place.folder}. Start one with "cdui start"`);
  }

  private noToken(): Failure {
    const { url, tokenFile, guessed } = this.place;
    if (guessed) return this.noServer();
    return new Failure(
      'no_token',
      `There is no session token in ${tokenFile}, and ${url} takes orders only from who has it. Start a server of your own with "cdui start", or set CODEFYUI_USER_DATA_DIR to that server's folder`,
    );
  }
}

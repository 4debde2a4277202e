import type { components, paths } from './schema';

/** The answers' types by name, such as `Schema<'RunRowDto'>`. */
export type Schema<N extends keyof components['schemas']> = components['schemas'][N];

type Method = 'get' | 'post' | 'put' | 'delete';
/** The paths that know a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { readonly [K in M]: object } ? P : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = paths[P] extends { readonly [K in M]: infer O } ? O : never;
type Part<O, N extends string> = O extends { readonly parameters: { readonly [K in N]?: infer V } }
  ? Exclude<V, undefined>
  : never;
type Needs<N extends string, V> = [V] extends [never]
  ? { readonly [K in N]?: undefined }
  : Partial<V> extends V
    ? { readonly [K in N]?: V }
    : { readonly [K in N]: V };
type BodyOf<O> = O extends { readonly requestBody: { readonly content: { readonly 'application/json': infer B } } }
  ? B
  : never;

/** What a request takes: values in the path, the query and the body, as its operation declares them. */
export type RequestOf<P extends keyof paths, M extends Method> = Needs<'path', Part<Operation<P, M>, 'path'>> &
  Needs<'query', Part<Operation<P, M>, 'query'>> &
  Needs<'body', BodyOf<Operation<P, M>>> & {
    /** Aborts the request. */
    readonly signal?: AbortSignal;
    readonly headers?: Readonly<Record<string, string>>;
  };
type Arguments<R> = Partial<R> extends R ? [request?: R] : [request: R];

/** What it answers. */
export type AnswerOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends {
    readonly responses: { readonly 200: { readonly content: { readonly 'application/json': infer A } } };
  }
    ? A
    : never;

/** The server refused a request, and says why. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** For programs; `http_<status>` when the answer has none. */
    readonly code: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** The server could not be reached, or the connection broke. `cause` is the system's error. */
export class ConnectionError extends Error {
  constructor(
    readonly url: string,
    cause: unknown,
  ) {
    super(`${url} does not answer: ${reasonOf(cause)}`, { cause });
    this.name = 'ConnectionError';
  }
}

export interface ApiClientOptions {
  /** Such as `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Without it only reading works. Asked for again for each request: it is new after each start of the server. */
  readonly token?: string | (() => string | null);
  readonly fetch?: typeof fetch;
}

interface Untyped {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The REST interface of the control plane, typed by its OpenAPI document. Every method throws `ApiError` for a refusal, `ConnectionError` when there
 * is no answer, and the signal's reason when it was aborted.
 */
export class ApiClient {
  readonly url: string;

  constructor(private readonly options: ApiClientOptions) {
    this.url = options.url.replace(/\/+$/, '');
  }

  get<P extends PathOf<'get'>>(path: P, ...[request]: Arguments<RequestOf<P, 'get'>>): Promise<AnswerOf<P, 'get'>> {
    return this.json('get', path, request as Untyped | undefined);
  }

  post<P extends PathOf<'post'>>(path: P, ...[request]: Arguments<RequestOf<P, 'post'>>): Promise<AnswerOf<P, 'post'>> {
    return this.json('post', path, request as Untyped | undefined);
  }

  delete<P extends PathOf<'delete'>>(
    path: P,
    ...[request]: Arguments<RequestOf<P, 'delete'>>
  ): Promise<AnswerOf<P, 'delete'>> {
    return this.json('delete', path, request as Untyped | undefined);
  }

  /** The answer as it comes, for those that are no JSON: console logs, CSV, files. Its body must be read or cancelled. */
  raw<P extends PathOf<'get'>>(path: P, ...[request]: Arguments<RequestOf<P, 'get'>>): Promise<Response> {
    return this.send('get', path, request as Untyped | undefined);
  }

  private async json<A>(method: Method, path: string, request: Untyped | undefined): Promise<A> {
    const response = await this.send(method, path, request);
    return this.reading(() => response.json() as Promise<A>, request);
  }

  private async send(method: Method, path: string, request: Untyped = {}): Promise<Response> {
    const { body, signal, headers = {} } = request;
    const token = typeof this.options.token === 'function' ? this.options.token() : this.options.token;
    const response = await this.reading(
      () =>
        (this.options.fetch ?? fetch)(this.url + addressOf(path, request), {
          method: method.toUpperCase(),
          headers: {
            ...(token && { 'X-CodefyUI-Token': token }),
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          ...(signal && { signal }),
        }),
      request,
    );
    if (response.ok) return response;
    throw refusal(response.status, await this.reading(() => response.text(), request));
  }

  private async reading<V>(read: () => Promise<V>, request: Untyped | undefined): Promise<V> {
    try {
      return await read();
    } catch (error) {
      request?.signal?.throwIfAborted();
      throw new ConnectionError(this.url, error);
    }
  }
}

/** Puts values into a path, and a query behind it; lists are repeated. */
function addressOf(path: string, { path: values = {}, query = {} }: Untyped): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`),
  );
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

/** Reads all forms of an error's body: an object with a code, a list of fields, a text. */
function refusal(status: number, text: string): ApiError {
  const detail = detailOf(text);
  if (typeof detail === 'string') return new ApiError(status, `http_${status}`, detail);
  if (Array.isArray(detail)) {
    const problems = detail as readonly {
      readonly loc?: readonly unknown[];
      readonly msg?: string;
      readonly type?: string;
    }[];
    const message = problems.map(({ loc = [], msg = '' }) => {
      const field = loc.slice(1).join('.');
      // Most messages name their field themselves.
      return msg.includes(field) ? msg : `${field}: ${msg}`;
    });
    return new ApiError(status, problems[0]?.type ?? `http_${status}`, message.join('; '), { fields: problems });
  }
  const { code, message, details } = (detail ?? {}) as {
    code?: string;
    message?: string;
    details?: Record<string, unknown>;
  };
  return new ApiError(status, code ?? `http_${status}`, message ?? `The server answered ${status}`, details ?? {});
}

function detailOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { detail?: unknown } | null)?.detail;
  } catch {
    return null;
  }
}

function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as { message?: string; cause?: { code?: string; message?: string } };
  return inner?.code ?? inner?.message ?? message ?? String(cause);
}

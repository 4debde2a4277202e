import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequestArgs, type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionToken } from '../auth/session-token';
import { readSettings } from '../config/settings';
import { type RunningServer, startServer } from '../server';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export interface Sent {
  readonly body?: unknown;
  /** Instead of `body`: sent as it is. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the session token goes along; it does unless said otherwise. */
  readonly token?: boolean;
}

/** A real server in a temporary folder, and requests to it over a real socket. */
export class TestServer {
  private constructor(
    readonly server: RunningServer,
    readonly folder: string,
  ) {}

  /** `{folder}` in the value of a variable stands for the server's folder. */
  static async start(
    env: Readonly<Record<string, string>> = {},
    prepare: (folder: string) => void = () => undefined,
  ): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-server-'));
    prepare(folder);
    const given = Object.entries(env).map(([name, value]) => [name, value.replace('{folder}', folder)] as const);
    const settings = readSettings({
      CODEFYUI_PORT: '0',
      CODEFYUI_USER_DATA_DIR: folder,
      CODEFYUI_LOG_LEVEL: 'warn',
      ...Object.fromEntries(given),
    });
    return new TestServer(await startServer(settings), folder);
  }

  get url(): string {
    return this.server.url;
  }

  get token(): string {
    return this.server.app.get(SessionToken).value;
  }

  /** Sends the path as it stands, without the cleaning that URL classes do. */
  send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const { hostname, port } = new URL(this.url);
    const payload = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const headers: Record<string, string> = {
      ...(sent.token !== false && { 'x-codefyui-token': this.token }),
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(payload)),
      }),
      ...sent.headers,
    };
    const options: ClientRequestArgs = { hostname: hostname.replace(/^\[|\]$/g, ''), port, method, path, headers };
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...options, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          resolve({ status: response.statusCode!, headers: response.headers, bytes, text, json: parsed(text) });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  get(path: string, sent: Sent = {}): Promise<Answer> {
    return this.send('GET', path, sent);
  }

  post(path: string, body: unknown, sent: Sent = {}): Promise<Answer> {
    return this.send('POST', path, { body, ...sent });
  }

  async close(): Promise<void> {
    await this.server.app.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

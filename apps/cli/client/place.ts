import { serverFolders, type Environment } from '../server/data-folder';
import { liveAddress, readAddress, readToken, serverFile } from '../server/server-files';

/** What the command line says about where the server is. */
export interface PlaceChoice {
  readonly host?: string;
  readonly port?: number;
}

/** Where a server is thought to be. */
export interface Place {
  readonly url: string;
  /** Null when there is no token file, or it is not for this user's eyes. */
  readonly token: string | null;
  readonly tokenFile: string;
  readonly folder: string;
  /** Whether the address is only a guess: nobody named one, and no server has left its own. */
  readonly guessed: boolean;
  /** Whether the only address is one that a server left behind which is gone: somebody else's may answer there by now. */
  readonly stale: boolean;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8000;

/**
 * Looks where the server is: `--host` and `--port`, else the address file of the first folder whose server has it, else the default address.
 * A server that was started again has another token and perhaps another port, so whoever lost it looks again.
 */
export function findPlace({ host, port }: PlaceChoice, env: Environment): Place {
  const folders = serverFolders(env);
  const known = folders.map((folder) => ({ folder, address: liveAddress(folder) }));
  const fits = ({ address }: (typeof known)[number]): boolean =>
    address !== null && (port === undefined || port === address.port);
  const left = known.find(({ folder }) => readAddress(folder) !== null);
  const found = known.find(fits) ?? known.find(({ address }) => address !== null) ?? left ?? known[0]!;
  const { folder, address } = found;
  const named = host !== undefined || port !== undefined;
  return {
    url: named || address === null ? urlOf(host ?? DEFAULT_HOST, port ?? defaultPort(env)) : address.url,
    token: readToken(folder),
    tokenFile: serverFile.token(folder),
    folder,
    guessed: !named && address === null,
    stale: !named && address === null && left !== undefined,
  };
}

function defaultPort(env: Environment): number {
  const port = Number(env['CODEFYUI_PORT']?.trim());
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : DEFAULT_PORT;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

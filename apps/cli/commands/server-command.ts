import { Option } from 'nest-commander';
import { ReportingCommand, type ReportingOptions } from './reporting-command';
import { parseHost, parseServerPort } from './server-options';

/** Which server a command talks to. */
export interface ServerChoice extends ReportingOptions {
  readonly host?: string;
  readonly port?: number;
}

/** A command that talks to a running server. */
export abstract class ServerCommand<Options extends ServerChoice = ServerChoice> extends ReportingCommand<Options> {
  @Option({ flags: '--host <address>', description: "the server's address (default: of the server that runs here)" })
  host(value: string): string {
    return parseHost(value);
  }

  @Option({ flags: '--port <number>', description: "the server's port (default: of the server that runs here)" })
  port(value: string): number {
    return parseServerPort(value);
  }
}

import { Command, Option } from 'nest-commander';
import { EXIT } from '../exit-codes';
import { helpAfter } from '../program';
import { ReportingCommand, type ReportingOptions } from './reporting-command';
import { parseHost, parsePort } from './server-options';

interface StartOptions extends ReportingOptions {
  readonly foreground?: boolean;
  readonly host?: string;
  readonly port?: number;
}

@Command({ name: 'start', description: 'Start the server; runs belong to it, not to this terminal' })
export class StartCommand extends ReportingCommand<StartOptions> {
  override setCommand(command: Parameters<ReportingCommand['setCommand']>[0]): this {
    helpAfter(command, [
      'cdui start                    start in the background, on 127.0.0.1:8000',
      'cdui start --port 0           let the system choose a free port',
      'cdui start -f                 stay in this terminal; Ctrl+C stops the server',
    ]);
    return super.setCommand(command);
  }

  protected override async work(_: readonly string[], options: StartOptions): Promise<number> {
    const { userDataFolder } = await import('../server/data-folder.js');
    const choice = { ...options, folder: userDataFolder(process.env), env: process.env };
    const print = (address: object, already: boolean, log: string | null = null): void => {
      const document = { ...address, already_running: already, folder: choice.folder, log };
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    };
    if (options.foreground) {
      const { runForProgram, runInForeground } = await import('../server/foreground.js');
      return options.json ? runForProgram(choice, (address) => print(address, false)) : runInForeground(choice);
    }
    const { startServer } = await import('../server/start-server.js');
    const { serverFile } = await import('../server/server-files.js');
    const { address, already, ms } = await startServer(choice);
    const log = serverFile.log(choice.folder);
    if (options.json) {
      print(address, already, log);
      return EXIT.ok;
    }
    const lines = already
      ? [`The server is running already at ${address.url} (process ${address.pid}).`]
      : [
          `The server answers at ${address.url} (process ${address.pid}, after ${(ms / 1000).toFixed(1)} s).`,
          `Its log is ${log}. Closing this terminal leaves it running; "cdui stop" stops it.`,
        ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return EXIT.ok;
  }

  @Option({ flags: '-f, --foreground', description: 'stay in this terminal until the server ends' })
  foreground(): boolean {
    return true;
  }

  @Option({ flags: '--host <address>', description: 'address to listen on (default: CODEFYUI_HOST, else 127.0.0.1)' })
  host(value: string): string {
    return parseHost(value);
  }

  @Option({ flags: '--port <number>', description: 'port to listen on (default: CODEFYUI_PORT, else 8000)' })
  port(value: string): number {
    return parsePort(value);
  }
}

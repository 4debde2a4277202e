import { Command, Option } from 'nest-commander';
import { EXIT } from '../exit-codes';
import { ReportingCommand, type ReportingOptions } from './reporting-command';
import { parseSeconds } from './server-options';

interface StopOptions extends ReportingOptions {
  readonly all?: boolean;
  readonly timeout?: number;
}

@Command({ name: 'stop', description: 'Stop the server: what waits is retired, what runs gets 5 s to stop' })
export class StopCommand extends ReportingCommand<StopOptions> {
  protected override async work(_: readonly string[], { all, timeout, json }: StopOptions): Promise<number> {
    const { serverFolders } = await import('../server/data-folder.js');
    const { STOP_GRACE_S, stopServer } = await import('../server/stop-server.js');
    const results: { folder: string; stopped: Awaited<ReturnType<typeof stopServer>> }[] = [];
    for (const folder of serverFolders(process.env)) {
      const stopped = await stopServer(folder, (timeout ?? STOP_GRACE_S) * 1000);
      results.push({ folder, stopped });
      if (stopped.how !== 'none' && !all) break;
    }
    const ended = results.filter(({ stopped }) => stopped.how !== 'none');
    if (json) {
      const servers = ended.map(({ folder, stopped }) => ({ folder, ...stopped }));
      process.stdout.write(`${JSON.stringify({ stopped: servers }, null, 2)}\n`);
      return EXIT.ok;
    }
    if (ended.length === 0) {
      process.stdout.write(`No server is running on ${results.map(({ folder }) => folder).join(' or ')}.\n`);
    }
    for (const { stopped } of ended) {
      if (stopped.how === 'none') continue;
      const which = `The server (process ${stopped.pid}${stopped.url === null ? '' : `, ${stopped.url}`})`;
      process.stdout.write(
        stopped.how === 'stopped'
          ? `${which} stopped after ${(stopped.ms / 1000).toFixed(1)} s.\n`
          : `${which} did not stop in time and was killed. Its runs will say "interrupted" when it starts again.\n`,
      );
    }
    return EXIT.ok;
  }

  @Option({ flags: '--all', description: "the user's own server and that of this clone (npm start)" })
  all(): boolean {
    return true;
  }

  @Option({ flags: '--timeout <seconds>', description: 'kill it when it has not stopped by then (default: 15)' })
  timeout(value: string): number {
    return parseSeconds(value);
  }
}

import { Command, Option } from 'nest-commander';
import { InvalidArgumentError } from 'commander';
import { ReportingCommand, type ReportingOptions } from './reporting-command';
import { parseSeconds } from './server-options';

interface StatusOptions extends ReportingOptions {
  readonly once?: boolean;
}

const EVERY_S = 2;

@Command({
  name: 'status',
  arguments: '[seconds]',
  argsDescription: { seconds: 'how often to look again (default: 2)' },
  description: 'Show the server and its runs: live on a terminal, else once; ends with 1 when no server runs',
})
export class StatusCommand extends ReportingCommand<StatusOptions> {
  protected override async work([seconds]: readonly string[], { once, json }: StatusOptions): Promise<number> {
    const every = seconds === undefined ? EVERY_S : this.seconds(seconds);
    const { showStatus } = await import('../server/show-status.js');
    return showStatus({ every, once: once ?? false, json: json ?? false });
  }

  @Option({ flags: '--once', description: 'look once and end' })
  once(): boolean {
    return true;
  }

  private seconds(text: string): number {
    try {
      return parseSeconds(text);
    } catch (error) {
      return this.command.error(`error: ${(error as InvalidArgumentError).message}`, {
        code: 'commander.invalidArgument',
      });
    }
  }
}

import { Option } from 'nest-commander';
import { exitCodeOf } from '../exit-codes';
import { reportFailure } from '../failure';
import { ProgramCommand } from '../program';

export interface ReportingOptions {
  readonly json?: boolean;
}

/** A command that ends with the exit code that its work returns, and says in one sentence why it could not do it. */
export abstract class ReportingCommand<Options extends ReportingOptions = ReportingOptions> extends ProgramCommand {
  protected abstract work(args: readonly string[], options: Options): Promise<number>;

  override async run(args: string[], options: Options): Promise<void> {
    try {
      process.exitCode = await this.work(args, options);
    } catch (error) {
      // Bad arguments are told with the command's usage.
      if (exitCodeOf(error) !== null) throw error;
      process.exitCode = reportFailure(error, options.json ?? false);
    }
  }

  @Option({ flags: '--json', description: 'print JSON on standard output and nothing else there' })
  json(): boolean {
    return true;
  }
}

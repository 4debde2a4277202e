import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { CliModule } from './cli.module';
import { endWithReader } from './closed-output';
import { EXIT, exitCodeOf } from './exit-codes';
import { mistakeAsJson, wantsJson, withHelpOfDeepCommands } from './usage';
import { version } from './version';

/** Runs the command that the arguments name. The process's exit code tells how it went. */
async function main(): Promise<void> {
  process.argv = withHelpOfDeepCommands(process.argv);
  endWithReader(process.stdout, process.stderr);
  await CommandFactory.run(CliModule, {
    logger: ['error'],
    cliName: 'cdui',
    version: version(),
    errorHandler: (error) => {
      throw error;
    },
    serviceErrorHandler: (error) => {
      const code = exitCodeOf(error);
      if (code !== null && code !== EXIT.ok && wantsJson(process.argv)) process.stdout.write(mistakeAsJson(error));
      if (code === null) process.stderr.write(`${error.stack ?? error.message}\n`);
      process.exitCode = code ?? EXIT.failed;
    },
  });
}

void main();

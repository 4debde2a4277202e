import { Injectable } from '@nestjs/common';
import type { Command } from 'commander';
import { CommandRunner, InjectCommander } from 'nest-commander';

/** The root of the command tree. */
@Injectable()
export class Program {
  constructor(@InjectCommander() private readonly root: Command) {
    root
      .name('cdui')
      .description('Runs deep-learning graphs: on a server that keeps them, or right here.')
      .showHelpAfterError(true);
    helpAfter(root, [
      'cdui start                                    start the server',
      'cdui run examples/mnist-cnn.graph.json        run a graph there and watch it',
      'cdui runs list                                what ran, and how it ended',
      'cdui graph run examples/mlp-csv.graph.json    run one here, without a server',
    ]);
  }

  /** Whether anything was asked for; else its help is all there is to say. */
  get name(): string {
    return this.root.name();
  }
}

/** A command whose mistakes end in an error with a code, never in the end of the process. */
export abstract class ProgramCommand extends CommandRunner {
  override setCommand(command: Command): this {
    super.setCommand(command);
    command.exitOverride().allowExcessArguments(false).showHelpAfterError('(add --help for the arguments it takes)');
    return this;
  }
}

/** Examples below a command's help: help is read by people who want to do something. */
export function helpAfter(command: Command, examples: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
}

/** A command that only holds others. */
export abstract class CommandGroup extends ProgramCommand {
  override setCommand(command: Command): this {
    super.setCommand(command);
    command.allowExcessArguments(true).showHelpAfterError(true);
    return this;
  }

  override async run([name]: string[]): Promise<void> {
    if (name === undefined) this.command.help({ error: true });
    this.command.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' });
  }
}

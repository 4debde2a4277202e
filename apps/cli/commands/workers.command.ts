import { Command, SubCommand } from 'nest-commander';
import { CommandGroup, helpAfter } from '../program';
import { ServerCommand, type ServerChoice } from './server-command';

@SubCommand({ name: 'list', aliases: ['ls'], description: 'List the workers of the server' })
export class WorkersListCommand extends ServerCommand {
  protected override async work(_: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../workers/worker-commands.js')).listWorkers(options);
  }
}

@SubCommand({
  name: 'show',
  arguments: '<name>',
  argsDescription: { name: 'the name of a worker' },
  description: 'Show one worker: its devices, its runs, and how it differs from the server',
})
export class WorkersShowCommand extends ServerCommand {
  protected override async work([name]: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../workers/worker-commands.js')).showWorker(name!, options);
  }
}

@SubCommand({
  name: 'drain',
  arguments: '<name>',
  argsDescription: { name: 'the name of a worker' },
  description: 'Let a worker take no new runs; those that it has go on',
})
export class WorkersDrainCommand extends ServerCommand {
  protected override async work([name]: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../workers/worker-commands.js')).drainWorker(name!, true, options);
  }
}

@SubCommand({
  name: 'undrain',
  arguments: '<name>',
  argsDescription: { name: 'the name of a worker' },
  description: 'Let a drained worker take new runs again',
})
export class WorkersUndrainCommand extends ServerCommand {
  protected override async work([name]: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../workers/worker-commands.js')).drainWorker(name!, false, options);
  }
}

export const WORKERS_COMMANDS = [WorkersListCommand, WorkersShowCommand, WorkersDrainCommand, WorkersUndrainCommand];

@Command({
  name: 'workers',
  description: 'Show and drain the workers that runs can go to',
  subCommands: WORKERS_COMMANDS,
})
export class WorkersCommand extends CommandGroup {
  override setCommand(command: Parameters<CommandGroup['setCommand']>[0]): this {
    helpAfter(command, [
      'cdui workers list                                  who is there, and what is free',
      'cdui workers show gpu-box-1                        one of them',
      'cdui workers drain gpu-box-1                       let it finish what it has, before an update',
      'cdui run --worker gpu-box-1 my.graph.json          send it a run',
    ]);
    return super.setCommand(command);
  }
}

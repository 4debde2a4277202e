import { Command, Option, SubCommand } from 'nest-commander';
import { CommandGroup, helpAfter } from '../program';
import { ServerCommand, type ServerChoice } from './server-command';

const NAME = { name: 'the name of a saved graph' };
const FILE = { file: 'a graph file (.json), or - for standard input' };

@SubCommand({ name: 'list', aliases: ['ls'], description: 'List the graphs that are saved on the server' })
export class GraphsListCommand extends ServerCommand {
  protected override async work(_: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../graphs/graph-commands.js')).listGraphs(options);
  }
}

interface SaveOptions extends ServerChoice {
  readonly name?: string;
  readonly overwrite?: boolean;
}

@SubCommand({
  name: 'save',
  arguments: '<file>',
  argsDescription: FILE,
  description: 'Save a graph file on the server',
})
export class GraphsSaveCommand extends ServerCommand<SaveOptions> {
  protected override async work([file]: readonly string[], options: SaveOptions): Promise<number> {
    return (await import('../graphs/graph-commands.js')).saveGraph(file!, options);
  }

  @Option({ flags: '--name <name>', description: "what it is called (default: the graph's own name)" })
  name(value: string): string {
    return value;
  }

  @Option({ flags: '--overwrite', description: 'put it in the place of a graph with that name' })
  overwrite(): boolean {
    return true;
  }
}

interface LoadOptions extends ServerChoice {
  readonly output?: string;
  readonly force?: boolean;
}

@SubCommand({
  name: 'load',
  arguments: '<name>',
  argsDescription: NAME,
  description: 'Print a saved graph, or write it into a file',
})
export class GraphsLoadCommand extends ServerCommand<LoadOptions> {
  protected override async work([name]: readonly string[], options: LoadOptions): Promise<number> {
    return (await import('../graphs/graph-commands.js')).loadGraph(name!, options);
  }

  @Option({ flags: '-o, --output <file>', description: 'write it into this file' })
  output(value: string): string {
    return value;
  }

  @Option({ flags: '--force', description: 'overwrite the file' })
  force(): boolean {
    return true;
  }
}

@SubCommand({
  name: 'show',
  arguments: '<name>',
  argsDescription: NAME,
  description: 'Show the nodes of a saved graph',
})
export class GraphsShowCommand extends ServerCommand {
  protected override async work([name]: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../graphs/graph-commands.js')).showGraph(name!, options);
  }
}

interface RenameOptions extends ServerChoice {
  readonly overwrite?: boolean;
}

@SubCommand({ name: 'rename', arguments: '<from> <to>', description: 'Give a saved graph another name' })
export class GraphsRenameCommand extends ServerCommand<RenameOptions> {
  protected override async work([from, to]: readonly string[], options: RenameOptions): Promise<number> {
    return (await import('../graphs/graph-commands.js')).renameGraph(from!, to!, options);
  }

  @Option({ flags: '--overwrite', description: 'put it in the place of a graph with that name' })
  overwrite(): boolean {
    return true;
  }
}

@SubCommand({
  name: 'delete',
  aliases: ['rm'],
  arguments: '<name>',
  argsDescription: NAME,
  description: 'Delete a saved graph',
})
export class GraphsDeleteCommand extends ServerCommand {
  protected override async work([name]: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../graphs/graph-commands.js')).deleteGraph(name!, options);
  }
}

@SubCommand({
  name: 'validate',
  arguments: '<file>',
  argsDescription: FILE,
  description: 'Have the server check a graph file; ends with 1 when it has problems',
})
export class GraphsValidateCommand extends ServerCommand {
  protected override async work([file]: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../graphs/graph-commands.js')).validateGraph(file!, options);
  }
}

export const GRAPHS_COMMANDS = [
  GraphsListCommand,
  GraphsSaveCommand,
  GraphsLoadCommand,
  GraphsShowCommand,
  GraphsRenameCommand,
  GraphsDeleteCommand,
  GraphsValidateCommand,
];

@Command({ name: 'graphs', description: 'Save, load and check graphs on the server', subCommands: GRAPHS_COMMANDS })
export class GraphsCommand extends CommandGroup {
  override setCommand(command: Parameters<CommandGroup['setCommand']>[0]): this {
    helpAfter(command, [
      'cdui graphs save my.graph.json              keep it on the server',
      'cdui graphs load "My graph" -o my.json      get it back',
      'cdui graphs validate my.graph.json          every problem, with its node',
    ]);
    return super.setCommand(command);
  }
}

import { Command, Option, SubCommand } from 'nest-commander';
import { InvalidArgumentError } from 'commander';
import { RUN_STATUSES, type RunStatus } from '@cdui/protocol';
import { CommandGroup, helpAfter } from '../program';
import { ServerCommand, type ServerChoice } from './server-command';

const ID = { id: 'a run: its id, the beginning of it, or "last"' };
const IDS = { ids: 'runs: their ids, the beginnings of them, or "last"' };
const SORTS = ['created_at', 'started_at', 'finished_at', 'name', 'status'] as const;

function whole(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text.trim()) || value < min || value > max) {
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  }
  return value;
}

function oneOf<T extends string>(text: string, values: readonly T[]): T {
  const value = values.find((known) => known === text);
  if (value === undefined) throw new InvalidArgumentError(`Give one of ${values.join(', ')}.`);
  return value;
}

interface ListOptions extends ServerChoice {
  readonly status?: RunStatus[];
  readonly search?: string;
  readonly sort?: (typeof SORTS)[number];
  readonly order?: 'asc' | 'desc';
  readonly limit?: number;
  readonly offset?: number;
}

@SubCommand({ name: 'list', aliases: ['ls'], description: 'List runs, the newest first' })
export class RunsListCommand extends ServerCommand<ListOptions> {
  protected override async work(_: readonly string[], options: ListOptions): Promise<number> {
    const { search, status, sort, order, limit = 20, offset = 0 } = options;
    const { listRuns } = await import('../runs/run-commands.js');
    const query = {
      limit,
      offset,
      ...(status && { status }),
      ...(search !== undefined && { q: search }),
      ...(sort && { sort }),
      ...(order && { order }),
    };
    return listRuns(query, options);
  }

  @Option({ flags: '--status <status>', description: `only these; may be repeated: ${RUN_STATUSES.join(', ')}` })
  status(value: string, before: RunStatus[] = []): RunStatus[] {
    return [...before, ...value.split(',').map((one) => oneOf(one.trim(), RUN_STATUSES))];
  }

  @Option({ flags: '-q, --search <text>', description: 'part of the name or of the id' })
  search(value: string): string {
    return value;
  }

  @Option({ flags: '--sort <field>', description: `${SORTS.join(', ')} (default: created_at)` })
  sort(value: string): (typeof SORTS)[number] {
    return oneOf(value, SORTS);
  }

  @Option({ flags: '--order <order>', description: 'asc or desc (default: desc)' })
  order(value: string): 'asc' | 'desc' {
    return oneOf(value, ['asc', 'desc'] as const);
  }

  @Option({ flags: '-n, --limit <count>', description: 'how many, 1 to 500 (default: 20)' })
  limit(value: string): number {
    return whole(value, 1, 500);
  }

  @Option({ flags: '--offset <count>', description: 'how many to leave out' })
  offset(value: string): number {
    return whole(value, 0, Number.MAX_SAFE_INTEGER);
  }
}

interface ShowOptions extends ServerChoice {
  readonly graph?: boolean;
}

@SubCommand({ name: 'show', arguments: '<id>', argsDescription: ID, description: 'Show a run and what came out' })
export class RunsShowCommand extends ServerCommand<ShowOptions> {
  protected override async work([id]: readonly string[], options: ShowOptions): Promise<number> {
    return (await import('../runs/run-commands.js')).showRun(id!, options);
  }

  @Option({ flags: '--graph', description: 'print the graph that ran, secrets blank' })
  graph(): boolean {
    return true;
  }
}

interface LogsOptions extends ServerChoice {
  readonly follow?: boolean;
  readonly search?: string;
}

@SubCommand({
  name: 'logs',
  arguments: '<id>',
  argsDescription: ID,
  description: 'Print what a run printed; with --json as JSON lines',
})
export class RunsLogsCommand extends ServerCommand<LogsOptions> {
  protected override async work([id]: readonly string[], options: LogsOptions): Promise<number> {
    return (await import('../runs/run-commands.js')).showLog(id!, options);
  }

  @Option({ flags: '-f, --follow', description: 'go on until the run ends, through restarts of the server' })
  follow(): boolean {
    return true;
  }

  @Option({ flags: '--search <text>', description: 'only lines that hold the text, with their numbers' })
  search(value: string): string {
    return value;
  }
}

interface EventsOptions extends ServerChoice {
  readonly follow?: boolean;
  readonly cursor?: number;
}

@SubCommand({
  name: 'events',
  arguments: '<id>',
  argsDescription: ID,
  description: 'Print the events of a run, one on each line; with --json as JSON lines',
})
export class RunsEventsCommand extends ServerCommand<EventsOptions> {
  protected override async work([id]: readonly string[], options: EventsOptions): Promise<number> {
    return (await import('../runs/run-commands.js')).showEvents(id!, options);
  }

  @Option({ flags: '-f, --follow', description: 'go on until the run ends, through restarts of the server' })
  follow(): boolean {
    return true;
  }

  @Option({ flags: '--cursor <number>', description: 'only events after this one' })
  cursor(value: string): number {
    return whole(value, 0, Number.MAX_SAFE_INTEGER);
  }
}

interface MetricsOptions extends ServerChoice {
  readonly name?: string;
  readonly csv?: boolean;
}

@SubCommand({ name: 'metrics', arguments: '<id>', argsDescription: ID, description: 'Show the metrics of a run' })
export class RunsMetricsCommand extends ServerCommand<MetricsOptions> {
  protected override async work([id]: readonly string[], options: MetricsOptions): Promise<number> {
    if (options.csv && options.json) {
      this.command.error("error: options '--csv' and '--json' cannot be used together: give one of them", {
        code: 'commander.conflictingOption',
      });
    }
    return (await import('../runs/run-commands.js')).showMetrics(id!, options);
  }

  @Option({ flags: '--name <metric>', description: 'one metric only' })
  name(value: string): string {
    return value;
  }

  @Option({ flags: '--csv', description: 'every point, as CSV on standard output' })
  csv(): boolean {
    return true;
  }
}

interface ArtifactsOptions extends ServerChoice {
  readonly kind?: string;
  readonly download?: string;
}

@SubCommand({
  name: 'artifacts',
  arguments: '<id>',
  argsDescription: ID,
  description: 'List or fetch what a run saved',
})
export class RunsArtifactsCommand extends ServerCommand<ArtifactsOptions> {
  protected override async work([id]: readonly string[], options: ArtifactsOptions): Promise<number> {
    return (await import('../runs/run-commands.js')).showArtifacts(id!, options);
  }

  @Option({ flags: '--kind <kind>', description: 'one kind only, such as model' })
  kind(value: string): string {
    return value;
  }

  @Option({ flags: '--download <folder>', description: 'copy them into this folder' })
  download(value: string): string {
    return value;
  }
}

@SubCommand({ name: 'cancel', arguments: '<ids...>', argsDescription: IDS, description: 'Stop runs' })
export class RunsCancelCommand extends ServerCommand {
  protected override async work(ids: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../runs/run-commands.js')).cancelRuns(ids, options);
  }
}

@SubCommand({
  name: 'delete',
  aliases: ['rm'],
  arguments: '<ids...>',
  argsDescription: IDS,
  description: 'Delete ended runs with everything stored about them',
})
export class RunsDeleteCommand extends ServerCommand {
  protected override async work(ids: readonly string[], options: ServerChoice): Promise<number> {
    return (await import('../runs/run-commands.js')).deleteRuns(ids, options);
  }
}

interface RetryOptions extends ServerChoice {
  readonly wait?: boolean;
}

@SubCommand({
  name: 'retry',
  arguments: '<id>',
  argsDescription: ID,
  description: 'Submit the same graph with the same options again',
})
export class RunsRetryCommand extends ServerCommand<RetryOptions> {
  protected override async work([id]: readonly string[], options: RetryOptions): Promise<number> {
    return (await import('../runs/run-commands.js')).retryRun(id!, options);
  }

  @Option({ flags: '--wait', description: 'follow the new run to its end' })
  wait(): boolean {
    return true;
  }
}

interface MoveOptions extends ServerChoice {
  readonly before?: string;
  readonly position?: number;
}

@SubCommand({
  name: 'move',
  arguments: '<id>',
  argsDescription: ID,
  description: 'Let a waiting run stand elsewhere in its queue (default: at its front)',
})
export class RunsMoveCommand extends ServerCommand<MoveOptions> {
  protected override async work([id]: readonly string[], options: MoveOptions): Promise<number> {
    if (options.before !== undefined && options.position !== undefined) {
      this.command.error('error: give --before or --position, not both', { code: 'commander.conflictingOption' });
    }
    return (await import('../runs/run-commands.js')).moveRun(id!, options);
  }

  @Option({ flags: '--before <id>', description: 'before this run, which waits in the same queue' })
  before(value: string): string {
    return value;
  }

  @Option({ flags: '--position <number>', description: 'at this position, from 1' })
  position(value: string): number {
    return whole(value, 1, 1_000_000);
  }
}

export const RUNS_COMMANDS = [
  RunsListCommand,
  RunsShowCommand,
  RunsLogsCommand,
  RunsEventsCommand,
  RunsMetricsCommand,
  RunsArtifactsCommand,
  RunsCancelCommand,
  RunsDeleteCommand,
  RunsRetryCommand,
  RunsMoveCommand,
];

@Command({ name: 'runs', description: 'List, show, follow, stop, repeat and delete runs', subCommands: RUNS_COMMANDS })
export class RunsCommand extends CommandGroup {
  override setCommand(command: Parameters<CommandGroup['setCommand']>[0]): this {
    helpAfter(command, [
      'cdui runs list --status running             what runs now',
      'cdui runs logs -f last                      watch what the newest run prints',
      'cdui runs metrics 3f2a --csv > curve.csv    every point of run 3f2a...',
      'cdui runs artifacts 3f2a --download out     what it saved, copied to out/',
    ]);
    return super.setCommand(command);
  }
}

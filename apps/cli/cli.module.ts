import { Module } from '@nestjs/common';
import { AGENT_COMMANDS, AgentCommand } from './commands/agent.command';
import { CompletionCommand } from './commands/completion.command';
import { DbBackupCommand, DbCommand } from './commands/db.command';
import { GraphCommand } from './commands/graph.command';
import { GraphRunCommand } from './commands/graph-run.command';
import { GRAPHS_COMMANDS, GraphsCommand } from './commands/graphs.command';
import { RunCommand } from './commands/run.command';
import { RUNS_COMMANDS, RunsCommand } from './commands/runs.command';
import { StartCommand } from './commands/start.command';
import { StatusCommand } from './commands/status.command';
import { StopCommand } from './commands/stop.command';
import { WORKERS_COMMANDS, WorkersCommand } from './commands/workers.command';
import { Program } from './program';

/** The commands, in the order in which help lists them. */
@Module({
  providers: [
    Program,
    StartCommand,
    StatusCommand,
    StopCommand,
    RunCommand,
    RunsCommand,
    ...RUNS_COMMANDS,
    AgentCommand,
    ...AGENT_COMMANDS,
    WorkersCommand,
    ...WORKERS_COMMANDS,
    GraphsCommand,
    ...GRAPHS_COMMANDS,
    GraphCommand,
    GraphRunCommand,
    DbCommand,
    DbBackupCommand,
    CompletionCommand,
  ],
})
export class CliModule {}

import { Module } from '@nestjs/common';
import { GraphCommand } from './commands/graph.command';
import { GraphRunCommand } from './commands/graph-run.command';
import { RunCommand } from './commands/run.command';
import { StartCommand } from './commands/start.command';
import { StatusCommand } from './commands/status.command';
import { StopCommand } from './commands/stop.command';
import { Program } from './program';

@Module({ providers: [Program, StartCommand, StopCommand, StatusCommand, RunCommand, GraphCommand, GraphRunCommand] })
export class CliModule {}

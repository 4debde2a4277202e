import { Module } from '@nestjs/common';
import { GraphCommand } from './commands/graph.command';
import { GraphRunCommand } from './commands/graph-run.command';
import { Program } from './program';

@Module({ providers: [Program, GraphCommand, GraphRunCommand] })
export class CliModule {}

import { Command } from 'nest-commander';
import { CommandGroup } from '../program';
import { GraphRunCommand } from './graph-run.command';

@Command({ name: 'graph', description: 'Work with graph files on this machine', subCommands: [GraphRunCommand] })
export class GraphCommand extends CommandGroup {}

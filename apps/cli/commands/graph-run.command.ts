import { Option, SubCommand } from 'nest-commander';
import { ProgramCommand } from '../program';
import type { GraphRunArguments } from '../graph-run/arguments';
import { parseDevice, parseErrorMode, parseInput, parseRetries, parseSeed } from '../graph-run/arguments';
import { runGraphFile } from '../graph-run/run-graph-file';

@SubCommand({
  name: 'run',
  arguments: '<file>',
  argsDescription: { file: 'the graph file (.json)' },
  description: 'Check a graph file and run it here, without a server',
})
export class GraphRunCommand extends ProgramCommand {
  override async run([file]: string[], options: GraphRunArguments): Promise<void> {
    process.exitCode = await runGraphFile(file as string, options);
  }

  @Option({ flags: '--validate-only', description: 'check the file and stop' })
  validateOnly(): boolean {
    return true;
  }

  @Option({ flags: '--device <device>', description: 'cpu, cuda, cuda:N or mps (default: the graph says, else cpu)' })
  device(value: string): string {
    return parseDevice(value);
  }

  @Option({ flags: '--seed <number>', description: 'make the run repeatable: 0 to 4294967295' })
  seed(value: string): number {
    return parseSeed(value);
  }

  @Option({ flags: '--deterministic', description: 'use only algorithms that give the same result each time' })
  deterministic(): boolean {
    return true;
  }

  @Option({ flags: '--error-mode <mode>', description: 'when a node fails: fail_fast, continue or retry' })
  errorMode(value: string): GraphRunArguments['errorMode'] {
    return parseErrorMode(value);
  }

  @Option({ flags: '--max-retries <count>', description: 'with --error-mode retry: extra attempts, 0 to 10' })
  maxRetries(value: string): number {
    return parseRetries(value);
  }

  @Option({ flags: '-v, --verbose', description: 'show stacks of errors, traces of nodes and warnings in full' })
  verbose(): boolean {
    return true;
  }

  @Option({ flags: '--json', description: 'print one JSON document on standard output and nothing else' })
  json(): boolean {
    return true;
  }

  @Option({
    flags: '--input <name=value>',
    description: 'give the GraphInput of this name a value, as JSON or text; may be repeated',
  })
  input(value: string, before?: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    return parseInput(value, before);
  }

  @Option({
    flags: '--data-dir <folder>',
    description: 'where data sets, models and tables lie (default: ~/.codefyui)',
  })
  dataDir(value: string): string {
    return value;
  }

  @Option({ flags: '--output-dir <folder>', description: "the run's own folder (default: below the data folder)" })
  outputDir(value: string): string {
    return value;
  }
}

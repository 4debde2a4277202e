import { Command, Option } from 'nest-commander';
import { parseErrorMode, parseRetries, parseSeed } from '../graph-run/arguments';
import { helpAfter } from '../program';
import {
  parseDevices,
  parseGib,
  parseName,
  parsePriority,
  parseServerDevice,
  type RunArguments,
} from '../run/run-options';
import { ServerCommand } from './server-command';
import { parseSeconds } from './server-options';

@Command({
  name: 'run',
  arguments: '<file>',
  argsDescription: { file: 'the graph file (.json), or - for standard input' },
  description: 'Submit a graph to the server and follow its run; Ctrl+C leaves the run going',
})
export class RunCommand extends ServerCommand<RunArguments> {
  override setCommand(command: Parameters<ServerCommand['setCommand']>[0]): this {
    helpAfter(command, [
      'cdui run examples/mnist-cnn.graph.json             run it and watch',
      'cdui run --detach --name night my.graph.json       queue it; see "cdui runs list"',
      'cdui run --worker gpu-box-1 my.graph.json          on a worker; see "cdui workers list"',
      'cdui run --seed 1 --deterministic my.graph.json    the same result each time',
      'cdui run --json my.graph.json | jq .metrics        the result for programs',
    ]);
    return super.setCommand(command);
  }

  protected override async work([file]: readonly string[], options: RunArguments): Promise<number> {
    if (options.wait && options.detach) {
      this.command.error('error: give --wait or --detach, not both', { code: 'commander.conflictingOption' });
    }
    const { submitRun } = await import('../run/submit-run.js');
    return submitRun(file!, options);
  }

  @Option({ flags: '--name <name>', description: "the run's name, up to 64 characters (default: the graph's)" })
  name(value: string): string {
    return parseName(value);
  }

  @Option({ flags: '--device <device>', description: 'auto, cpu, cuda, cuda:N or mps (default: the graph says)' })
  device(value: string): string {
    return parseServerDevice(value);
  }

  @Option({ flags: '--seed <number>', description: 'make the run repeatable: 0 to 4294967295' })
  seed(value: string): number {
    return parseSeed(value);
  }

  @Option({ flags: '--deterministic', description: 'use only algorithms that give the same result each time' })
  deterministic(): boolean {
    return true;
  }

  @Option({ flags: '--record-outputs', description: 'keep what every port carried, to look at afterwards' })
  recordOutputs(): boolean {
    return true;
  }

  @Option({ flags: '--error-mode <mode>', description: 'when a node fails: fail_fast, continue or retry' })
  errorMode(value: string): RunArguments['errorMode'] {
    return parseErrorMode(value);
  }

  @Option({ flags: '--max-retries <count>', description: 'with --error-mode retry: extra attempts, 0 to 10' })
  maxRetries(value: string): number {
    return parseRetries(value);
  }

  @Option({ flags: '--provenance', description: 'record which code each node ran' })
  provenance(): boolean {
    return true;
  }

  @Option({ flags: '--priority <number>', description: 'higher ones start first in their queue: -1000 to 1000' })
  priority(value: string): number {
    return parsePriority(value);
  }

  @Option({ flags: '-v, --verbose', description: 'record traces of nodes and stacks of errors' })
  verbose(): boolean {
    return true;
  }

  @Option({ flags: '--wait', description: 'follow the run to its end (default)' })
  wait(): boolean {
    return true;
  }

  @Option({ flags: '--detach', description: 'end as soon as the run is accepted' })
  detach(): boolean {
    return true;
  }

  @Option({
    flags: '--timeout <seconds>',
    description: 'stop waiting after that time, with exit code 1; the run goes on',
  })
  timeout(value: string): number {
    return parseSeconds(value);
  }

  @Option({ flags: '--worker <name>', description: 'where it runs: local, any, or the name of a worker' })
  worker(value: string): string {
    return value;
  }

  @Option({ flags: '--devices <list>', description: 'the devices it gets, such as cuda:0,cuda:1' })
  devices(value: string): readonly string[] {
    return parseDevices(value);
  }

  @Option({ flags: '--pool <pool>', description: 'one-shot: a worker that takes one run' })
  pool(value: string): string {
    return value;
  }

  @Option({ flags: '--memory-gib <number>', description: 'its budget on a card that is shared by memory' })
  memoryGib(value: string): number {
    return parseGib(value);
  }

  @Option({ flags: '--no-memory-wait', description: 'refuse it when the budget does not fit now' })
  memoryWait(): boolean {
    return false;
  }
}

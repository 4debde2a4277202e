import type { AgentReport } from '@cdui/host/agent-files';
import { InvalidArgumentError } from 'commander';
import { Command, Option, SubCommand } from 'nest-commander';
import { EXIT } from '../exit-codes';
import { CommandGroup, helpAfter } from '../program';
import { ReportingCommand, type ReportingOptions } from './reporting-command';
import { parseSeconds } from './server-options';

interface NamedOptions extends ReportingOptions {
  readonly name?: string;
}

/** A command about one agent of this machine. */
abstract class OneAgentCommand<Options extends NamedOptions = NamedOptions> extends ReportingCommand<Options> {
  @Option({ flags: '--name <name>', description: "the agent's name (default: that of this machine)" })
  agentName(value: string): string {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) {
      throw new InvalidArgumentError('Give small letters, digits and dashes, 63 at most, such as gpu-box-1.');
    }
    return value;
  }
}

interface StartOptions extends NamedOptions {
  readonly control?: string;
  readonly devices?: string;
  readonly stopAfterSilence?: string;
  readonly foreground?: boolean;
}

@SubCommand({ name: 'start', description: 'Start a worker on this machine; it executes runs for the server' })
export class AgentStartCommand extends OneAgentCommand<StartOptions> {
  override setCommand(command: Parameters<ReportingCommand['setCommand']>[0]): this {
    helpAfter(command, [
      'cdui agent start                       for the server that runs here, in the background',
      'cdui agent start --name second         a second worker on the same machine',
      'cdui agent start --devices cuda:0      only this card',
      'cdui agent start -f                    stay in this terminal; Ctrl+C stops it',
      'cdui run --worker second my.graph.json send it something to do',
    ]);
    return super.setCommand(command);
  }

  protected override async work(_: readonly string[], options: StartOptions): Promise<number> {
    const { runAgentInForeground, startAgent } = await import('../agent/start-agent.js');
    if (options.foreground && options.json) {
      this.command.error("error: options '--foreground' and '--json' cannot be used together: give one of them", {
        code: 'commander.conflictingOption',
      });
    }
    if (options.foreground) return runAgentInForeground(options);
    const { agentCommand } = await import('../agent/find-agent.js');
    const { folder, already, report } = await startAgent(options);
    const ignored = already ? unlike(options, report) : [];
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ ...report, already_running: already, ignored, folder }, null, 2)}\n`);
      return EXIT.ok;
    }
    const who = `The agent "${report.name}" (process ${report.pid})`;
    const state = report.connected
      ? 'is connected'
      : `has no connection yet: ${report.reason ?? 'it is connecting'}. It goes on trying`;
    const stop = agentCommand('stop', report.name);
    const lines = [
      `${who} ${already ? 'was running already and ' : ''}${state}. It offers ${report.devices.join(', ') || 'nothing'}.`,
      ...(already ? [] : [`Closing this terminal leaves it running; "${stop}" stops it.`]),
      ...(ignored.length === 0
        ? []
        : [`${ignored.join(' and ')} did not apply to one that runs already: stop it first with "${stop}".`]),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return EXIT.ok;
  }

  @Option({ flags: '--control <url>', description: "the server's address (default: of the one that runs here)" })
  control(value: string): string {
    return value;
  }

  @Option({ flags: '--devices <list>', description: 'offer only these, such as cpu,cuda:0 (default: all)' })
  devices(value: string): string {
    return value;
  }

  @Option({
    flags: '--stop-after-silence <seconds>',
    description: 'stop its runs when the server cannot be reached for so long (default: they go on)',
  })
  stopAfterSilence(value: string): string {
    return String(parseSeconds(value));
  }

  @Option({ flags: '-f, --foreground', description: 'stay in this terminal until the agent ends' })
  foreground(): boolean {
    return true;
  }
}

/** What was asked for and an agent that runs already does otherwise: the options' names. */
function unlike({ control, devices, stopAfterSilence }: StartOptions, report: AgentReport): readonly string[] {
  const sorted = (names: readonly string[]): string => [...names].sort().join();
  const wanted = devices?.split(',').map((device) => device.trim().toLowerCase());
  const origin = control !== undefined && URL.canParse(control) ? new URL(control).origin : control;
  const differs = {
    '--control': origin !== undefined && origin !== report.control,
    '--devices': wanted !== undefined && sorted(wanted) !== sorted(report.devices),
    '--stop-after-silence': stopAfterSilence !== undefined && Number(stopAfterSilence) !== report.stop_after_silence_s,
  };
  return Object.entries(differs).flatMap(([option, isSo]) => (isSo ? [option] : []));
}

@SubCommand({ name: 'status', description: 'Show the agents of this machine; ends with 1 when none runs' })
export class AgentStatusCommand extends OneAgentCommand {
  protected override async work(_: readonly string[], { name, json }: NamedOptions): Promise<number> {
    const { agentCommand, findAgent, runningAgents } = await import('../agent/find-agent.js');
    const { agentLines } = await import('../agent/agent-lines.js');
    const { colourStyle, plainStyle, wantsColour } = await import('../graph-run/style.js');
    const one = name === undefined ? null : await findAgent(name);
    const agents = name === undefined ? await runningAgents() : one ? [one] : [];
    if (json) {
      const all = agents.map(({ report, ...agent }) => ({ ...agent, ...report }));
      process.stdout.write(`${JSON.stringify({ agents: all }, null, 2)}\n`);
    } else if (agents.length === 0) {
      const which = name === undefined ? 'No agent is' : `Agent "${name}" is not`;
      const start = name === undefined ? 'cdui agent start' : agentCommand('start', name);
      process.stdout.write(`${which} running: start ${name === undefined ? 'one' : 'it'} with "${start}".\n`);
    } else {
      const style = wantsColour(process.stdout.isTTY, process.env) ? colourStyle : plainStyle;
      const blocks = agents.map((agent) => agentLines(agent, Date.now(), style).join('\n'));
      process.stdout.write(`${blocks.join('\n\n')}\n`);
    }
    return agents.length > 0 ? EXIT.ok : EXIT.failed;
  }
}

interface StopOptions extends NamedOptions {
  readonly drain?: boolean;
  readonly timeout?: number;
}

@SubCommand({ name: 'stop', description: 'Stop an agent: its runs get 10 s, or as long as they take with --drain' })
export class AgentStopCommand extends OneAgentCommand<StopOptions> {
  protected override async work(_: readonly string[], options: StopOptions): Promise<number> {
    const { stopAgent } = await import('../agent/stop-agent.js');
    const { noAgent, runningAgents } = await import('../agent/find-agent.js');
    const stopped = await stopAgent(options);
    const others = stopped === null ? (await runningAgents()).map(({ name }) => name) : [];
    if (options.json) process.stdout.write(`${JSON.stringify({ stopped, ...(!stopped && { others }) }, null, 2)}\n`);
    else if (stopped === null) process.stdout.write(`${noAgent(options.name, others)}\n`);
    else {
      const which = `The agent "${stopped.name}" (process ${stopped.pid})`;
      process.stdout.write(
        stopped.how === 'stopped'
          ? `${which} stopped after ${(stopped.ms / 1000).toFixed(1)} s.\n`
          : `${which} did not stop in time and was killed; its runs end by themselves.\n`,
      );
    }
    // Who named none meant the one that runs, and it is still there.
    return options.name === undefined && others.length > 0 ? EXIT.failed : EXIT.ok;
  }

  @Option({ flags: '--drain', description: 'take no new runs, and end when those that it has are over' })
  drain(): boolean {
    return true;
  }

  @Option({
    flags: '--timeout <seconds>',
    description:
      'kill it when it has not stopped by then (default: 25); with --drain wait no longer (default: for ever)',
  })
  timeout(value: string): number {
    return parseSeconds(value);
  }
}

interface LogOptions extends NamedOptions {
  readonly follow?: boolean;
  readonly lines?: number;
}

@SubCommand({
  name: 'logs',
  description: 'Show what an agent logs, with --json as JSON lines; what a run prints is in "cdui runs logs"',
})
export class AgentLogsCommand extends OneAgentCommand<LogOptions> {
  protected override async work(_: readonly string[], options: LogOptions): Promise<number> {
    return (await import('../agent/show-log.js')).showAgentLog(options);
  }

  @Option({ flags: '-f, --follow', description: 'go on with what comes, until Ctrl+C' })
  follow(): boolean {
    return true;
  }

  @Option({ flags: '-n, --lines <count>', description: 'how many lines of its end (default: 50)' })
  lines(value: string): number {
    if (!/^\d{1,6}$/.test(value)) throw new InvalidArgumentError('Give a number of lines from 0 on.');
    return Number(value);
  }
}

export const AGENT_COMMANDS = [AgentStartCommand, AgentStatusCommand, AgentStopCommand, AgentLogsCommand] as const;

@Command({
  name: 'agent',
  description: 'Start, show and stop workers on this machine',
  subCommands: [...AGENT_COMMANDS],
})
export class AgentCommand extends CommandGroup {}

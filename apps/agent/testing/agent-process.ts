import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { agentFolder, type AgentReport, readAgentReport } from '@cdui/host/agent-files';
import { entryPath } from '@cdui/host/entry';

interface AgentProcessOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** A command that becomes the one that follows it. */
  readonly through?: readonly string[];
}

/** A worker agent as a program of its own, and all that it prints. */
export class AgentProcess {
  output = '';
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  private readonly child: ChildProcess;

  constructor(
    private readonly userData: string,
    readonly name: string,
    { args = [], env = {}, through = [] }: AgentProcessOptions = {},
  ) {
    const [program = '', ...rest] = [...through, process.execPath, entryPath('apps/agent/main'), '--name', name];
    this.child = spawn(program, [...rest, ...args], {
      env: { ...process.env, CODEFYUI_USER_DATA_DIR: userData, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  get pid(): number {
    return this.child.pid!;
  }

  get folder(): string {
    return agentFolder(this.userData, this.name);
  }

  get report(): AgentReport | null {
    return readAgentReport(this.folder);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** What it has mapped into memory. */
  get maps(): string {
    return readFileSync(`/proc/${this.pid}/maps`, 'utf8');
  }

  /** Resolves when what it printed matches; rejects when it ends before. */
  async prints(text: RegExp): Promise<void> {
    while (!text.test(this.output)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(`It ended: ${this.output}`);
      await Promise.race([once(this.child.stdout!, 'data'), once(this.child.stderr!, 'data'), this.ended]);
    }
  }

  async end(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.kill('SIGKILL');
    await this.ended;
  }
}

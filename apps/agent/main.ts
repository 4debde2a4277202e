import { agentCommand, agentFile, agentFolder, type AgentReport } from '@cdui/host/agent-files';
import { MachineInventory } from '@cdui/host/devices';
import { machineId } from '@cdui/host/machine-id';
import { makeFolder } from '@cdui/host/make-folder';
import { programVersion } from '@cdui/host/program-version';
import { acquireLock, type Lock, lockHolder } from '@cdui/host/single-instance';
import { ASSIGN_EXTRA_BYTES, CodedError } from '@cdui/protocol';
import { join } from 'node:path';
import { Catalog } from './catalog/catalog';
import type { CatalogAnswer } from './catalog-helper/answer';
import { type Choice, offered, readChoice } from './choice';
import { findControlPlane } from './connection/control-plane';
import { WebSocketDialer } from './connection/ws-dialer';
import { ConsoleTails } from './console/console-tails';
import { Agent, type AgentEnd } from './core/agent';
import type { AgentFacts } from './core/world';
import { standardLog as log, systemClock } from './machine';
import { ReportFile } from './report-file';
import { ProcessLauncher } from './runner/process-launcher';
import { strays, tidyStrays } from './runner/strays';
import { sweepRuns } from './runner/sweep-runs';
import { type AgentSettings, readAgentSettings } from './settings';
import { RunFolders, OUTPUT_FILE } from './spool/run-folders';

/** How the program ends, besides 1 for what went wrong. */
const EXIT = { stopped: 0, failed: 1, usage: 2, rejected: 3, interrupted: 130 } as const;
/** Codes of errors in the arguments. */
const USAGE: readonly string[] = ['usage', 'invalid_control'];
/** Of runs when the agent is asked to end. In seconds. */
const STOP_GRACE_S = 10;

/** What this agent can do besides what every one can. */
const CAPABILITIES = ['ack', 'run_facts', 'console'] as const;

async function main(argv: readonly string[]): Promise<number> {
  const choice = readChoice(argv);
  const settings = readAgentSettings(process.env);
  const folder = agentFolder(settings.userDataDir, choice.name);
  await makeFolder(folder);
  const lock = await lockOf(folder, choice.name);
  try {
    return await work(choice, settings, folder);
  } finally {
    lock.release();
  }
}

async function lockOf(folder: string, name: string): Promise<Lock> {
  const file = agentFile.lock(folder);
  const lock = await acquireLock(file);
  if (lock !== null) return lock;
  const holder = await lockHolder(file);
  const who = holder?.pid ? ` (process ${holder.pid})` : '';
  throw new CodedError(
    'already_running',
    `Another agent of the name "${name}" runs already${who}, in ${folder}: stop it with "${agentCommand('stop', name)}", or give this one another --name`,
    { folder },
  );
}

/** The agent's whole life. @returns the exit code */
async function work(choice: Choice, settings: AgentSettings, folder: string): Promise<number> {
  // What runs leave behind comes to this process, which ends it.
  strays.adopt();
  const stopTidying = tidyStrays(log);
  const startedAt = new Date().toISOString();
  const inventory = new MachineInventory();
  const interrupted = { yes: false };
  let served: readonly string[] = ['cpu'];
  const devices = async () => offered(await inventory.read(), served, choice.devices);

  // The helper takes longest: everything else happens meanwhile.
  let agent: Agent | null = null;
  let looked: CatalogAnswer | null = null;
  const catalog = new Catalog(settings.customNodesDir, log, (answer) => {
    served = answer?.served ?? served;
    looked = answer;
    agent?.change(catalogFacts(answer));
  });
  const [id] = await Promise.all([machineId(), catalog.start(), inventory.read(), sweepRuns(folder)]);

  const facts: AgentFacts = {
    name: choice.name,
    version: programVersion(),
    capabilities: CAPABILITIES,
    machine_id: id,
    platform: `${process.platform}-${process.arch}`,
    devices: await devices(),
    mounts: [],
    ...catalogFacts(looked),
  };
  refuseMissing(choice, facts);
  const folders = new RunFolders(agentFile.runs(folder), log);
  const launcher = new ProcessLauncher({
    agentFolder: folder,
    environment: process.env,
    customNodes: settings.customNodesDir,
    presets: settings.presetsDir,
    spare: settings.spare,
  });
  const place = () => {
    // Where the folder cannot be watched a new connection is the time to look.
    catalog.check();
    return findControlPlane(settings.userDataDir, choice.control);
  };
  const world = {
    clock: systemClock,
    random: Math.random,
    dialer: new WebSocketDialer({ place, maxMessageBytes: settings.maxRunBodyBytes + ASSIGN_EXTRA_BYTES }),
    spools: folders,
    launcher,
    consoles: new ConsoleTails((runId) => join(folders.folder(runId), OUTPUT_FILE)),
    devices,
    log,
    ...(choice.stopAfterSilenceS !== null && { stopAfterSilenceMs: choice.stopAfterSilenceS * 1000 }),
  };
  const started = new Agent(world, facts, () => report.changed());
  const report = new ReportFile(folder, () => reportOf(choice, startedAt, started.status));
  agent = started;
  listenToSignals(started, interrupted);
  log.info(
    `Agent "${choice.name}" ${facts.version} (process ${process.pid}) offers ${facts.devices.map(({ device }) => device).join(', ') || 'no device'}`,
  );
  await started.start();
  const end = await started.over;
  catalog.close();
  stopTidying();
  await launcher.close();
  report.remove();
  return codeOf(end, interrupted.yes);
}

function catalogFacts(
  answer: CatalogAnswer | null,
): Pick<AgentFacts, 'fingerprint' | 'catalog_hash' | 'node_types' | 'node_type_hashes'> {
  return {
    fingerprint: answer?.fingerprint ?? null,
    catalog_hash: answer?.catalog_hash ?? null,
    node_types: Object.keys(answer?.node_type_hashes ?? {}),
    node_type_hashes: answer?.node_type_hashes ?? {},
  };
}

function refuseMissing(choice: Choice, { devices }: AgentFacts): void {
  const there = devices.map(({ device }) => device);
  const missing = choice.devices?.find((device) => !there.includes(device));
  if (missing === undefined) return;
  throw new CodedError(
    'device_not_offered',
    `This machine has no ${missing} on which anything computes${there.length > 0 ? `; of those named it has ${there.join(', ')}` : ''}`,
    { device: missing },
  );
}

function reportOf(choice: Choice, started_at: string, status: Agent['status']): AgentReport {
  return {
    name: choice.name,
    pid: process.pid,
    version: programVersion(),
    started_at,
    control: choice.control,
    stop_after_silence_s: choice.stopAfterSilenceS,
    ...status,
  };
}

/** SIGTERM, Ctrl+C and a closed terminal end the agent, a second Ctrl+C at once; SIGUSR2 lets it finish its runs first. */
function listenToSignals(agent: Agent, interrupted: { yes: boolean }): void {
  const stop = (): void => {
    log.info(`Stopping: runs get ${STOP_GRACE_S} s`);
    agent.stop(STOP_GRACE_S);
  };
  process.on('SIGTERM', stop).on('SIGHUP', stop);
  process.on('SIGINT', () => {
    if (interrupted.yes) return agent.stop(0);
    interrupted.yes = true;
    stop();
  });
  process.on('SIGUSR2', () => {
    log.info('Draining: no new runs are taken, and the agent ends with the last one');
    agent.stop(null);
  });
}

function codeOf(end: AgentEnd, interrupted: boolean): number {
  if (end.how === 'rejected') return EXIT.rejected;
  log.info('Stopped');
  return interrupted ? EXIT.interrupted : EXIT.stopped;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const coded = error instanceof CodedError;
    process.stderr.write(`${coded ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(coded && USAGE.includes(error.code) ? EXIT.usage : EXIT.failed);
  },
);

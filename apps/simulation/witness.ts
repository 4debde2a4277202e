import type { RunRecord } from '@cdui/execution';
import type { ServerFrame } from '@cdui/protocol';
import { isTerminal, TERMINAL_EVENTS } from '@cdui/protocol';
import type { Placed } from '@cdui/scheduling';
import { LOCAL, SlotLimits, slotKey } from '@cdui/scheduling';
import { SlowScheduler } from '@cdui/scheduling/testing/slow-scheduler';
import { resumeOf } from '../control-plane/runs/resume';
import { LIMITS, RESUME_GRACE_MS, type SimServer } from './sim-server';
import type { SimAgent, SimProcess } from './sim-agent';

const limits = new SlotLimits(LIMITS);
/** An agent that comes back is seen as away for as long as its silence lasted, on top of the grace. */
const SLACK_MS = 60_000;

/** Looks at the world between any two steps: whatever has happened, it must make sense. What it finds wrong it keeps. */
export class Witness {
  readonly problems: string[] = [];
  /** Runs that somebody was promised. */
  readonly acknowledged = new Set<string>();
  private readonly attempts = new Set<string>();
  /** When a run was first seen without its worker. */
  private readonly awaySince = new Map<string, number>();
  /** When storage last did not work: what could not be stored is tried again a little later. */
  private troubledAt = 0;

  blame(problem: string): void {
    if (this.problems.length < 20) this.problems.push(problem);
  }

  /** The next server waits from its beginning on. */
  serverRestarted(): void {
    this.awaySince.clear();
  }

  /** A process was started. */
  launched(process: SimProcess): void {
    const { agent, assignment } = process;
    const key = `${assignment.run_id}/${assignment.attempt}`;
    if (this.attempts.has(key)) this.blame(`${key}: its process is started twice`);
    this.attempts.add(key);
    if (!this.assigned.has(`${agent}/${key}`)) this.blame(`${key}: it starts on ${agent} without an assignment`);
  }
  private readonly assigned = new Set<string>();

  /** Agents that were told on their connection to take no new runs. */
  private readonly drained = new Set<string>();

  /** The server says something to an agent. */
  sends(agent: string, frame: ServerFrame, server: SimServer): void {
    if (frame.type === 'welcome') this.drained.delete(agent);
    if (frame.type === 'drain') {
      if (frame.draining) this.drained.add(agent);
      else this.drained.delete(agent);
    }
    if (frame.type === 'assign') {
      if (this.drained.has(agent)) this.blame(`${frame.run_id}: it is assigned to ${agent}, which is drained`);
      const row = this.row(server, frame.run_id);
      const resume = row && resumeOf(row);
      if (row?.status !== 'running') this.blame(`${frame.run_id}: it is assigned while its row says ${row?.status}`);
      if (resume?.placement.worker !== agent || resume.attempt !== frame.attempt) {
        this.blame(`${frame.run_id}: its row does not say that ${agent} has attempt ${frame.attempt}`);
      }
      this.assigned.add(`${agent}/${frame.run_id}/${frame.attempt}`);
    }
    if (frame.type === 'ack') {
      const row = this.row(server, frame.run_id);
      const resume = row && resumeOf(row);
      if (!row || resume?.attempt !== frame.attempt || resume.placement.worker !== agent) return;
      if (isTerminal(row.status) || row.status === 'queued') return;
      if (frame.seq > row.recordedSeq) {
        this.blame(`${frame.run_id}: frame ${frame.seq} is acknowledged, and only ${row.recordedSeq} are stored`);
      }
    }
  }

  async look(server: SimServer, agents: readonly SimAgent[], now: number): Promise<void> {
    if (!server.database.isFlowing) this.troubledAt = now;
    for (const id of this.acknowledged) {
      if (!this.row(server, id)) this.blame(`${id}: it was accepted and is not there`);
    }
    for (const row of server.database.records()) await this.lookAtRun(server, row, agents, now);
    this.lookAtSlots(server);
    this.lookAtQueues(server, agents);
    this.lookAtCards(server, agents);
  }

  private async lookAtRun(server: SimServer, row: RunRecord, agents: readonly SimAgent[], now: number): Promise<void> {
    const { id, status } = row;
    const { events } = await server.database.events.read(id, 0, 100_000, Infinity);
    events.forEach(({ cursor }, index) => {
      if (cursor !== index + 1) this.blame(`${id}: event ${index + 1} has cursor ${cursor}`);
    });
    const types = events.map(({ type }) => type);
    const ends = types.filter((type) => TERMINAL_EVENTS.some((terminal) => terminal === type));
    const expected = isTerminal(status) ? 1 : 0;
    if (ends.length !== expected) this.blame(`${id}: it is ${status} and has ${ends.length} last events`);
    if (expected > 0 && types.at(-1) !== ends[0]) this.blame(`${id}: ${types.at(-1)} comes after ${ends[0]}`);
    const starts = types.filter((type) => type === 'execution_start').length;
    if (starts > 1) this.blame(`${id}: it starts ${starts} times`);
    const said = events.findIndex(({ payload }) => payload.includes('"said"'));
    if (said >= 0 && !types.slice(0, said).includes('execution_start'))
      this.blame(`${id}: it reports before it starts`);
    if (status === 'succeeded' && starts === 0) this.blame(`${id}: it is succeeded and never started`);
    this.lookAtReports(row, events, agents);
    const isBack = row.workerId !== null && server.registry.get(row.workerId)?.online === true;
    if (status === 'disconnected' && isBack && now - this.troubledAt > SLACK_MS) {
      this.blame(`${id}: it is disconnected, and its worker is not`);
    }
    if (status !== 'disconnected') this.awaySince.delete(id);
    else if (!this.awaySince.has(id)) this.awaySince.set(id, now);
    else if (now - this.awaySince.get(id)! > RESUME_GRACE_MS + SLACK_MS && now - this.troubledAt > SLACK_MS) {
      this.blame(`${id}: it waits for its worker beyond the grace`);
    }
  }

  /** What the processes of the run said is stored once, in order, without a gap, and nothing else is. */
  private lookAtReports(
    { id, status, facts, workerId }: RunRecord,
    events: readonly { readonly type: string; readonly payload: string }[],
    agents: readonly SimAgent[],
  ): void {
    const said = events.flatMap(({ type, payload }) => {
      if (type !== 'run_warning') return [];
      const { kind, detail } = JSON.parse(payload) as { readonly kind: string; readonly detail: string };
      if (kind === 'worker_frames_lost') this.blame(`${id}: ${detail}`);
      return kind === 'said' ? [detail] : [];
    });
    if (said.length === 0 && status !== 'succeeded') return;
    const attempt = (facts?.['worker_resume'] as { readonly attempt: number } | undefined)?.attempt;
    const expected = said.map((_, index) => `${attempt}.${index + 1}`);
    if (said.join() !== expected.join()) this.blame(`${id}: it is to report 1, 2, 3, ... and reports ${said.join()}`);
    // The server itself has no process of a run to look at.
    if (status !== 'succeeded' || workerId === null) return;
    const process = agents
      .flatMap(({ processes }) => processes)
      .find(({ assignment }) => assignment.run_id === id && assignment.attempt === attempt);
    if (process?.finished !== 'succeeded') this.blame(`${id}: it is succeeded, and its process was not`);
    else if (process.said !== said.length) this.blame(`${id}: ${process.said} reports, and ${said.length} are stored`);
  }

  /** What counts as used is what runs hold. */
  private lookAtSlots(server: SimServer): void {
    const { held, fences, cards } = server.slots.scheduler;
    const counts = new Map<string, number>();
    for (const placed of [...held.values(), ...fences.all]) {
      for (const card of cards.cardsOf(placed)) counts.set(card, (counts.get(card) ?? 0) + 1);
    }
    for (const [key, count] of [...counts, ...cards.counts]) {
      const mine = counts.get(key) ?? 0;
      const theirs = cards.counts.get(key) ?? 0;
      if (mine !== theirs) this.blame(`${key}: ${theirs} runs count there, and ${mine} hold it (${count})`);
    }
    for (const row of server.database.records()) {
      const holds = held.has(row.id);
      const must = row.workerId !== null && (row.status === 'running' || row.status === 'disconnected');
      if (must && !holds && server.isUp) this.blame(`${row.id}: it is ${row.status} and holds nothing`);
    }
  }

  /** Whatever could start has started. */
  private lookAtQueues(server: SimServer, agents: readonly SimAgent[]): void {
    if (server.slots.resume !== null || this.problems.length > 0) return;
    const missed = this.byTheRules(server, agents);
    if (missed) this.blame(`${missed.run.id}: it could start on ${missed.worker} and does not`);
  }

  /** Who would be next by the rules, told from what is true of the world. */
  byTheRules(server: SimServer, agents: readonly SimAgent[]): Placed | null {
    const { waiting, held, fences } = server.slots.scheduler;
    const slow = new SlowScheduler(limits);
    slow.workers.set(LOCAL, { id: LOCAL, online: true, devices: ['cpu'] });
    for (const { name, identities } of agents) {
      const worker = server.registry.get(name);
      const { online = false, devices = [], capabilities = [] } = worker ?? {};
      slow.workers.set(name, { id: name, online, devices, capabilities, identities });
      if (worker?.draining) slow.draining.add(name);
    }
    const truly = (placed: Placed): Placed => {
      const identities = slow.workers.get(placed.worker)?.identities;
      return { ...placed, ...(identities && { identities }) };
    };
    slow.waiting = [...waiting.values()];
    slow.held = [...held.values()].map(truly);
    slow.fenced = [...fences.all].map(truly);
    return slow.next();
  }

  /** A run gets its slots. */
  placed(placed: Placed, expected: Placed | null): void {
    const where = ({ run, worker, devices }: Placed): string => `${run.id} on ${worker}/${devices.join('+')}`;
    if (expected && where(expected) === where(placed)) return;
    this.blame(`${where(placed)}: it is not its turn; ${expected ? where(expected) : 'nobody'} is next`);
  }

  /** No card has more processes than it admits runs, whoever offers it. */
  private lookAtCards(server: SimServer, agents: readonly SimAgent[]): void {
    const on = new Map<string, number>();
    for (const agent of agents) {
      // What an agent that is away still executes is given up by nobody before its time is over, or it is back.
      for (const { assignment } of agent.living) {
        const row = this.row(server, assignment.run_id);
        const resume = row && !isTerminal(row.status) && row.status !== 'queued' ? resumeOf(row) : null;
        if (resume?.placement.worker !== agent.name || resume.attempt !== assignment.attempt) continue;
        for (const device of assignment.devices) {
          const card = agent.identities[device] ?? slotKey({ worker: agent.name, device });
          on.set(card, (on.get(card) ?? 0) + 1);
        }
      }
    }
    for (const [card, count] of on) {
      const limit = card.endsWith('cpu') ? LIMITS.cpu : LIMITS.gpu;
      if (count > limit) this.blame(`${card}: ${count} processes, and ${limit} are admitted`);
    }
    for (const agent of agents) if (server.registry.get(agent.name)?.online) this.lookAtOwnCards(agent);
  }

  /** An agent that is there has nothing beyond what it may have, not even what nobody asks for any more. */
  private lookAtOwnCards(agent: SimAgent): void {
    const on = new Map<string, number>();
    for (const { assignment } of agent.living) {
      for (const device of assignment.devices) on.set(device, (on.get(device) ?? 0) + 1);
    }
    for (const [device, count] of on) {
      const limit = limits.of({ worker: agent.name, device });
      if (count > limit) this.blame(`${agent.name}/${device}: ${count} processes, and ${limit} are admitted`);
    }
  }

  private row(server: SimServer, id: string): RunRecord | undefined {
    return server.database.records().find((row) => row.id === id);
  }
}

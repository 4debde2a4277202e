import type { DeviceFacts } from '../device-facts';
import type {
  ArtifactPayload,
  InnerNodeStatusPayload,
  MetricPoint,
  NodeStatusPayload,
  WarningPayload,
} from '../events';
import type { GraphFile } from '../graph';
import type { RunOptions } from '../run-options';
import type { RunOutcome } from '../run-host';
import type { RunStorage } from './storage';

/*
 * The frames of /ws/worker. Each is one JSON object whose first member is `type`; several may share a message as an array. A field that a peer
 * does not know is ignored by it, and so is a frame; what is optional is used only when both sides list its capability.
 */

type Json = Readonly<Record<string, unknown>>;

/** The first frame of a connection, and again when what it says changed. */
export interface HelloFrame {
  readonly type: 'hello';
  /** Of the worker, whose id it is. */
  readonly name: string;
  /** Of the program; both ends run the same one. */
  readonly version: string;
  readonly protocol_version: number;
  /** What the agent can do; those that are not known are passed over. */
  readonly capabilities: readonly string[];
  /** SHA-256 of the system's own name for the machine; null where it has none. Self-reported. */
  readonly machine_id: string | null;
  /** Operating system and processor, such as `linux-x64`. */
  readonly platform: string;
  /** What it offers to runs. */
  readonly devices: readonly DeviceFacts[];
  /** Labels of shared folders. */
  readonly mounts: readonly string[];
  /** What results may depend on; null when it could not be found out. */
  readonly fingerprint: Json | null;
  /** SHA-256 of the canonical JSON of the node catalogue; null when it could not be loaded. */
  readonly catalog_hash: string | null;
  /** Types of the nodes that it has, its own included. */
  readonly node_types: readonly string[];
  /** Type -> SHA-256 of the canonical JSON of its definition. */
  readonly node_type_hashes: Readonly<Record<string, string>>;
  /** Capability `one_shot`: it executes one run and ends. */
  readonly one_shot?: boolean;
  /** The run that it was started for, where it was started for one. */
  readonly one_shot_run_id?: string;
  /** Of this process: tells it from another one under the same name. */
  readonly instance_id?: string;
  /** Capability `instances`: it registers as `<name>.<instance>`. */
  readonly instance?: string;
  /**
   * Whether it takes no new runs of its own accord: it ends with those it has, or its disk is full. Absent: it takes them. What `drain` said is
   * not meant.
   */
  readonly draining?: boolean;
}

/** Every `welcome.heartbeat_s` seconds, and at once when `draining` changes. */
export interface HeartbeatFrame {
  readonly type: 'heartbeat';
  /** As they are now. */
  readonly devices: readonly DeviceFacts[];
  /** Ids of runs that it executes. */
  readonly running: readonly string[];
  /** As in `hello`. */
  readonly draining?: boolean;
}

/**
 * After every welcome, before anything else, also when it has none: all the runs that the agent still has. One that began there and is not among
 * them is lost; one that did not begin returns to the queue. It comes again when the process of a run was started: that answers the assignment.
 */
export interface RunAliveFrame {
  readonly type: 'run_alive';
  readonly runs: readonly {
    readonly run_id: string;
    readonly attempt: number;
    /** The newest frame of the run that the agent has; 0 when there is none. */
    readonly last_seq: number;
  }[];
}

/** What every numbered frame of a run carries. */
export interface RunFrameHead {
  readonly run_id: string;
  /** Repeats `assign.attempt`: frames of another attempt are refused. */
  readonly attempt: number;
  /** From 1, without gaps, for each attempt. */
  readonly seq: number;
}

interface Timed {
  /** Milliseconds since the run's start, on the subprocess's monotonic clock. */
  readonly at_ms: number;
}

/** The graph begins to execute. */
export interface RunStartedFrame extends RunFrameHead {
  readonly type: 'run_started';
  /** What `CUDA_VISIBLE_DEVICES` holds there; null when the run sees no card. */
  readonly visible_devices: string | null;
  /** The run's name of each device -> the machine's, such as `cuda:0` -> `cuda:2`. */
  readonly device_aliases: Readonly<Record<string, string>>;
  /** Milliseconds from the assignment's coming to the agent until the graph began: `at_ms` counts from there. */
  readonly after_ms?: number;
}

/** A node's status, as it is stored. */
export interface EventFrame extends RunFrameHead, Timed {
  readonly type: 'event';
  readonly event:
    | { readonly type: 'node_status'; readonly payload: NodeStatusPayload }
    | { readonly type: 'inner_node_status'; readonly payload: InnerNodeStatusPayload };
}

/** Points of metrics, in the order in which nodes recorded them. */
export interface MetricsFrame extends RunFrameHead, Timed {
  readonly type: 'metrics';
  readonly points: readonly MetricPoint[];
}

/** A file that a node wrote to be kept. */
export interface ArtifactFrame extends RunFrameHead, Timed {
  readonly type: 'artifact';
  readonly artifact: ArtifactPayload;
}

/** Something that the run goes on in spite of. */
export interface WarningFrame extends RunFrameHead, Timed {
  readonly type: 'warning';
  readonly warning: WarningPayload;
}

/** Capability `run_facts`: what the run's process found out about itself; later facts are added to those before. */
export interface RunFactsFrame extends RunFrameHead {
  readonly type: 'run_facts';
  /** `runtime`: what computes; `fingerprint`: the subprocess's own document; `provenance`: where the code of one node comes from. */
  readonly facts: Json;
}

/** The last frame of an attempt; sent when the run's process tree is gone, acknowledged when the end of the run is committed. */
export interface RunFinishedFrame extends RunFrameHead {
  readonly type: 'run_finished';
  readonly outcome: RunOutcome;
}

/** Capability `console`. A part of the run's `output.log`, which is its own spool: it has no number and is not acknowledged. */
export interface ConsoleFrame {
  readonly type: 'console';
  readonly run_id: string;
  readonly attempt: number;
  /** The byte of the file at which the part begins. */
  readonly offset: number;
  /** How many bytes of the file `text` stands for. */
  readonly bytes: number;
  readonly text: string;
}

/** Capability `record_outputs`: a part of the answer to `fetch_output`. */
export interface OutputAnswerFrame {
  readonly type: 'output_answer';
  /** That of `fetch_output`. */
  readonly request_id: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** A part of the JSON body; the parts in order make the whole. */
  readonly body: string;
  /** Whether it is the last part. */
  readonly final: boolean;
}

/** Frames of a run that are numbered, spooled and acknowledged. */
export type NumberedFrame =
  RunStartedFrame | EventFrame | MetricsFrame | ArtifactFrame | WarningFrame | RunFactsFrame | RunFinishedFrame;

/** From the agent to the control plane. */
export type AgentFrame = HelloFrame | HeartbeatFrame | RunAliveFrame | NumberedFrame | ConsoleFrame | OutputAnswerFrame;

/** The agent may work: the answer to a `hello`. */
export interface WelcomeFrame {
  readonly type: 'welcome';
  readonly worker_id: string;
  /** How often either side lets the other know that it lives. */
  readonly heartbeat_s: number;
  /** How long a run that was asked to stop may go on, unless an assignment or `cancel` says otherwise. */
  readonly grace_s: number;
  /** What the control plane can do. */
  readonly capabilities: readonly string[];
  /** How long the control plane keeps the runs of a worker that went away. */
  readonly resume_grace_s?: number;
}

/** The control plane will not have this agent; the connection is closed after it. */
export interface RejectFrame {
  readonly type: 'reject';
  /** For programs, such as `version_mismatch`. */
  readonly code: string;
  /** In English. */
  readonly reason: string;
  /** Values of the code. */
  readonly params: Json;
}

/** A run to execute. An agent that cannot answers with a `run_finished` that says why. */
export interface AssignFrame {
  readonly type: 'assign';
  readonly run_id: string;
  /** From 1; higher when the run returned to the queue in between. */
  readonly attempt: number;
  /** With its secrets. */
  readonly graph: GraphFile;
  readonly options: RunOptions;
  /** The first of `devices`. */
  readonly device: string;
  /** Those that the run may use, as the machine numbers them; at least one. */
  readonly devices: readonly string[];
  readonly storage: RunStorage;
  /** The control plane's own policy, which the subprocess follows. */
  readonly payload_cap_bytes: number;
  readonly max_parallel_nodes: number;
  /** Capability `run_facts`: whether the run tells where the code of its nodes comes from, a frame for each. */
  readonly provenance?: boolean;
  /** In place of `welcome.grace_s`. */
  readonly grace_s?: number;
  /** Capability `memory_budget`: device -> bytes that the run may use there. */
  readonly memory_budgets?: Readonly<Record<string, number>>;
  /** Values of the inputs of a graph that runs as a function. */
  readonly inputs?: Json;
}

/** The run is to stop; also for what the control plane does not take from this worker. A run that the agent does not have is passed over. */
export interface CancelFrame {
  readonly type: 'cancel';
  readonly run_id: string;
  readonly attempt: number;
  /** How long it may take until its process is terminated, in place of what was said before; 0: at once. */
  readonly grace_s?: number;
}

/** The agent takes no new runs, or takes them again; those it has go on. */
export interface DrainFrame {
  readonly type: 'drain';
  readonly draining: boolean;
}

/** Capability `ack`: every frame of the attempt up to this one is durable. */
export interface AckFrame {
  readonly type: 'ack';
  readonly run_id: string;
  readonly attempt: number;
  readonly seq: number;
}

/** Capability `console`: the agent sends what the run prints from this byte on, until it is asked for another. */
export interface WantConsoleFrame {
  readonly type: 'want_console';
  readonly run_id: string;
  readonly attempt: number;
  /** A byte of the file. */
  readonly offset: number;
}

/** Capability `s3`: new credentials for a run that goes on. */
export interface CredentialsFrame {
  readonly type: 'credentials';
  readonly run_id: string;
  readonly attempt: number;
  readonly credentials: Json;
}

/** Capability `record_outputs`: reads what a run recorded. Answered by `output_answer`. */
export interface FetchOutputFrame {
  readonly type: 'fetch_output';
  /** Chosen by the control plane. */
  readonly request_id: string;
  readonly run_id: string;
  /** Which of the reads of recorded outputs, such as `port` or `stats`. */
  readonly read: string;
  /** Of that read. */
  readonly query: Json;
  /** How long the control plane waits. */
  readonly wait_s: number;
}

/** Capability `record_outputs`: nobody waits for the answer any more. */
export interface CancelFetchFrame {
  readonly type: 'cancel_fetch';
  readonly request_id: string;
}

/** Capability `record_outputs`: nobody will read them any more. */
export interface DropOutputsFrame {
  readonly type: 'drop_outputs';
  readonly run_id: string;
}

/** From the control plane to the agent. */
export type ServerFrame =
  | WelcomeFrame
  | RejectFrame
  | AssignFrame
  | CancelFrame
  | DrainFrame
  | AckFrame
  | WantConsoleFrame
  | CredentialsFrame
  | FetchOutputFrame
  | CancelFetchFrame
  | DropOutputsFrame;

export type AgentFrameType = AgentFrame['type'];
export type ServerFrameType = ServerFrame['type'];
export type NumberedFrameType = NumberedFrame['type'];

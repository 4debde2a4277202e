/** Of the frames; changed only when a peer would misread what is sent. What merely comes in addition is a capability. */
export const PROTOCOL_VERSION = 3;

/** What the two ends may list in `hello` and `welcome`; a feature is used when both do. */
export const CAPABILITIES = [
  'ack',
  'mounts',
  'transfer',
  'memory_budget',
  'one_shot',
  's3',
  'record_outputs',
  'instances',
  'run_facts',
  'console',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

const MIB = 1024 * 1024;
/** The largest message that the control plane reads; a larger one closes the socket. */
export const MAX_AGENT_MESSAGE_BYTES = 8 * MIB;
/** The largest first message. */
export const MAX_HELLO_BYTES = MIB;
/** An agent accepts assignments of `CODEFYUI_MAX_RUN_BODY_BYTES`, the graph, and this much for the rest. */
export const ASSIGN_EXTRA_BYTES = MIB;
/** Frames that are ready together share a message up to this size. */
export const MESSAGE_BATCH_BYTES = 64 * 1024;

/**
 * How deep each field of a frame may be nested: deeper than what nodes may report and graphs may hold (200 levels). Much deeper values exhaust the
 * stack of whoever writes them as JSON.
 */
export const MAX_FRAME_NESTING = 256;

/** How long a connection may stay without a `hello`. */
export const HELLO_TIMEOUT_MS = 10_000;
export const DEFAULT_HEARTBEAT_S = 10;
/** Either side closes a connection on which nothing came for so many heartbeats. */
export const MISSED_HEARTBEATS = 3;
/** How long a run that was asked to stop may go on, then how long after it was terminated until it is killed. */
export const DEFAULT_CANCEL_GRACE_S = 30;
export const KILL_AFTER_TERMINATE_S = 5;
/** The control plane acknowledges after so many frames or so long, whichever comes first. */
export const ACK_FRAMES = 64;
export const ACK_MS = 1_000;

/** Close codes of `/ws/worker`, and `code` of what a refused upgrade is answered with. */
export const WORKER_CLOSE = {
  /** Host or Origin. */
  place: 4003,
  /** The credential. */
  credential: 4401,
  /** A `reject` was sent. */
  rejected: 4400,
  /** What came is no frame, or not one that may come now. */
  protocol: 4422,
  /** Another connection of the same worker took its place. */
  replaced: 4409,
  /** Nothing came for too long, or an assignment was not answered. */
  silent: 4408,
} as const;

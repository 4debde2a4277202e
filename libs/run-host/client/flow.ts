/**
 * How far a host may run ahead of whoever reads its messages. The reader sends one `resume` for each `FLOW_GRANT` messages that it has
 * taken in; above the mark the engine waits at node and batch boundaries.
 */
export const FLOW_GRANT = 256;
export const FLOW_HIGH_WATER = 1_024;
/** A node that reports on without ever waiting loses progress, metrics and console text above this; a warning says how much. */
export const FLOW_LIMIT = 16_384;

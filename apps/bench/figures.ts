/** Measured numbers by key; a figure whose reference is missing is absent. */
export type Figures = Readonly<Record<string, number>>;

/** Tells people what is going on; programs read only the last line. */
export type Report = (line: string) => void;

/** What a figure is held to: at most a number, or at least. */
export type Target = number | { readonly atLeast: number };

/** What each figure is held to, for the table. */
export const TARGETS: Readonly<Record<string, Target>> = {
  'train.cnn.ratio_ref': 0.4,
  'train.cnn.ratio_openblas': 1,
  'train.mlp.ratio_openblas': 1,
  'train.transformer.ratio_openblas': 0.6,
  'engine.node_overhead_us': 100,
  'cli.help_ms': 250,
  'startup.ready_s': 1.5,
  'durability.violations': 0,
  'parity.max_rel_error': 1e-4,
  'events.per_s': { atLeast: 50_000 },
  'events.raw_ratio': { atLeast: 0.6 },
  'replay.1m_s': 10,
  'submits.per_s': { atLeast: 400 },
  'submits.raw_ratio': { atLeast: 0.5 },
  'first_node.p50_ms': 50,
  'worker.events.per_s': { atLeast: 50_000 },
  'worker.events.raw_ratio': { atLeast: 0.6 },
  'dispatch.p50_ms': 5,
  'dispatch.p99_ms': 25,
  'worker.first_node.p50_ms': 150,
  'cancel.p99_ms': 20,
  'overhead.pct': 3,
  'placements.per_s': { atLeast: 10_000 },
  'idle.kb_each': 15,
  'idle.cpu_share': 0.15,
  'idle.connect_s': 5,
  'return.5000_s': 5,
  'replay.100k_s': 2,
  'replay.dispatch_p99_ms': 50,
  'orphans.left': 0,
  'sim.violations': 0,
};

/** Whether a figure keeps its target, in words; empty without one. */
export function verdict(key: string, value: number): string {
  const target = TARGETS[key];
  if (target === undefined) return '';
  if (typeof target === 'number') return value <= target ? `within ${target}` : `above ${target}`;
  return value >= target.atLeast ? `reaches ${target.atLeast}` : `below ${target.atLeast}`;
}

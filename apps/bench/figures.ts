/** Measured numbers by key; a figure whose reference is missing is absent. */
export type Figures = Readonly<Record<string, number>>;

/** Tells people what is going on; programs read only the last line. */
export type Report = (line: string) => void;

/** What each figure is held to, for the table. At most unless it says at least. */
export const TARGETS: Readonly<Record<string, number>> = {
  'train.cnn.ratio_ref': 0.4,
  'train.cnn.ratio_openblas': 1,
  'train.mlp.ratio_openblas': 1,
  'train.transformer.ratio_openblas': 0.6,
  'engine.node_overhead_us': 100,
  'cli.help_ms': 250,
  'parity.max_rel_error': 1e-4,
};

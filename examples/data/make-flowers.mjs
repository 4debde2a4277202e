/**
 * Makes the tables of flowers: three species that do not exist, four measures each, normally distributed and partly overlapping.
 * The numbers are invented; the same seed gives the same files.
 *
 *   node examples/data/make-flowers.mjs [FOLDER]
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MEASURES = ['petal_length_cm', 'petal_width_cm', 'stem_height_cm', 'leaf_length_cm'];
/** Mean and standard deviation of each measure. */
const SPECIES = {
  bellwort: [
    [2.1, 0.3],
    [1.1, 0.2],
    [12, 3],
    [6, 1.2],
  ],
  starflower: [
    [3.4, 0.5],
    [0.7, 0.15],
    [28, 6],
    [9, 1.5],
  ],
  sunspurge: [
    [4.9, 0.6],
    [1.8, 0.3],
    [45, 9],
    [13, 2],
  ],
};
const ROWS = { train: 50, test: 20 };

/** Uniform numbers from 0 to 1 (mulberry32). */
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const next = uniform(20);
const normal = (mean, deviation) =>
  mean + deviation * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
for (const [split, rows] of Object.entries(ROWS)) {
  const lines = Array.from({ length: rows }, () =>
    Object.entries(SPECIES).map(([species, measures]) =>
      [...measures.map(([mean, deviation]) => Math.max(0.1, normal(mean, deviation)).toFixed(1)), species].join(','),
    ),
  ).flat();
  writeFileSync(join(folder, `flowers-${split}.csv`), `${[...MEASURES, 'species'].join(',')}\n${lines.join('\n')}\n`);
}

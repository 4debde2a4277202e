import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { surviveKills } from '../../apps/bench/durability/kills';
import { times } from '../../testing/long';

const KILLS = times(20, 200);

it(
  `loses nothing that it acknowledged in ${KILLS} kills at random points`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-kills-'));
    const seed = Number(process.env['CDUI_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
    try {
      const report = await surviveKills(folder, KILLS, seed);
      // Named, so that the same kills can be tried again (as far as two processes ever do the same).
      expect({ seed, violations: report.violations.slice(0, 10) }).toEqual({ seed, violations: [] });
      expect(report.kills).toBe(KILLS);
      // A test in which nothing was going on would show nothing.
      expect(report.seen.runs).toBeGreaterThan(KILLS);
      expect(report.seen.events).toBeGreaterThan(KILLS * 20);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
  KILLS * 30_000,
);

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { surviveKills } from './durability/kills';
import type { Figures, Report } from './figures';

const KILLS = 50;

/** Kills the server at random points while it works; what it had acknowledged and is missing afterwards counts. */
export async function benchDurability(report: Report): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-durability-'));
  const seed = Math.floor(Math.random() * 2 ** 32);
  const kills = Number(process.env['CDUI_BENCH_KILLS'] ?? KILLS);
  try {
    const { atStart, runs, events, seen, violations } = await surviveKills(folder, kills, seed, report);
    report(`seed ${seed}: ${kills} kills, ${atStart} of them at a start; ${runs} runs and ${events} events stored`);
    report(
      `acknowledged before a kill: ${seen.runs} runs, ${seen.events} events; missing or wrong: ${violations.length}`,
    );
    for (const violation of violations.slice(0, 10)) report(violation);
    return { 'durability.kills': kills, 'durability.violations': violations.length };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

import { spawn } from 'node:child_process';
import { entryPath } from '@cdui/host/entry';
import { times } from '../../testing/long';
import { Story } from './story';
import { firstProblem, STEPS } from './tell-stories';

/** A story takes some hundredths of a second, and most faults are found out within a few. */
const PATIENCE_MS = times(900_000, 20_000_000);

/** The compiled program tells stories several times as fast as a test's sandbox. */
function tell(seeds: number): Promise<{ readonly figures: Readonly<Record<string, number>>; readonly said: string }> {
  const env = { ...process.env, CDUI_BENCH_SEEDS: String(seeds) };
  const child = spawn(process.execPath, [entryPath('apps/bench/main'), 'sim', '--json'], { env });
  let [out, said] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve({ ...(JSON.parse(out) as { figures: Record<string, number> }), said }));
  });
}

describe('the control plane and its workers, whatever happens in whatever order', () => {
  it(
    'keep their promises, and are found out whenever one of them is broken on purpose',
    async () => {
      const seeds = times(1_000, 100_000);
      const { figures, said } = await tell(seeds);
      expect({ figures, said }).toMatchObject({ figures: { 'sim.seeds': seeds, 'sim.violations': 0 } });
      expect({ caught: figures['sim.faults_caught'], said }).toMatchObject({ caught: figures['sim.faults_planted'] });
      expect(figures['sim.faults_planted']).toBeGreaterThanOrEqual(20);
    },
    PATIENCE_MS,
  );

  it('tell the same story again for the same seed', async () => {
    const only = Number(process.env['CDUI_SIM_SEED'] ?? 7);
    const told = async (): Promise<readonly string[]> => {
      const story = new Story(only);
      await story.tell(STEPS);
      return story.told;
    };
    expect(await firstProblem([only])).toBeNull();
    expect(await told()).toEqual(await told());
  });
});

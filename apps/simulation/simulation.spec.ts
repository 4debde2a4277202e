import { times } from '../../testing/long';
import { FAULTS } from './faults';
import { Story } from './story';
import { firstProblem, STEPS, upTo } from './tell-stories';

/** A story takes some hundredths of a second. */
const PATIENCE_MS = times(600_000, 20_000_000);
/** Each fault must be caught within so many stories. */
const FAULT_SEEDS = 1_000;

describe('the control plane and its workers, whatever happens in whatever order', () => {
  it(
    'keep their promises',
    async () => {
      const only = process.env['CDUI_SIM_SEED'];
      const seeds = only === undefined ? upTo(times(1_000, 100_000)) : [Number(only)];
      expect(await firstProblem(seeds)).toBeNull();
    },
    PATIENCE_MS,
  );

  it('tell the same story again for the same seed', async () => {
    const tell = async (): Promise<readonly string[]> => {
      const story = new Story(7);
      await story.tell(STEPS);
      return story.told;
    };
    expect(await tell()).toEqual(await tell());
  });

  it.each(Object.entries(FAULTS))(
    'are found out when %s',
    async (_, fault) => {
      expect(await firstProblem(upTo(FAULT_SEEDS), fault)).not.toBeNull();
    },
    PATIENCE_MS,
  );
});

import type { Api } from '../client/api';
import { EXIT } from '../exit-codes';
import { Failure } from '../failure';

const WHOLE = /^[0-9a-f]{32}$/;
const SHOWN = 5;

/**
 * The id that is meant: itself, the beginning of exactly one, or `last` for the newest run.
 * @throws Failure `run_not_found`, or `ambiguous_run` with the runs that it could be
 */
export async function resolveRun(api: Api, text: string): Promise<string> {
  const wanted = text.trim().toLowerCase();
  if (WHOLE.test(wanted)) return wanted;
  const newest = wanted === 'last';
  if (!newest && !/^[0-9a-f]+$/.test(wanted)) {
    throw new Failure(
      'run_not_found',
      `"${text}" is no run's id: ids are hexadecimal digits, see "cdui runs list"`,
      EXIT.usage,
    );
  }
  const query = newest ? { limit: 1 } : { q: wanted, limit: 500 };
  const { runs } = await api.read((client, signal) => client.get('/api/runs', { query, signal }));
  const matches = newest ? runs : runs.filter(({ id }) => id.startsWith(wanted));
  if (matches.length === 1) return matches[0]!.id;
  if (matches.length === 0) {
    throw new Failure(
      'run_not_found',
      newest ? 'There is no run yet' : `There is no run whose id begins with ${wanted}: see "cdui runs list"`,
    );
  }
  const some = matches.slice(0, SHOWN).map(({ id, name }) => `${id.slice(0, wanted.length + 4)} (${name})`);
  const more = matches.length > SHOWN ? ` and ${matches.length - SHOWN} more` : '';
  throw new Failure(
    'ambiguous_run',
    `${matches.length} runs begin with ${wanted}: ${some.join(', ')}${more}. Give more of the id`,
  );
}

/** Progress lines for people. They go to standard error, so that a command's own output stays clean for programs. */

const seconds = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);

export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** Announces a piece of work, does it, and says how long it took. */
export async function step(title, work) {
  const started = performance.now();
  say(`▸ ${title}`);
  try {
    const result = await work();
    say(`✓ ${title} (${seconds(performance.now() - started)})`);
    return result;
  } catch (error) {
    say(`✗ ${title} (after ${seconds(performance.now() - started)})`);
    throw error;
  }
}

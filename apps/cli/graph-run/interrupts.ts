/**
 * Ctrl+C: the first asks the run to stop at its next safe point, the second ends the process. Returns how to stop listening.
 */
export function onInterrupts(first: () => void, second: () => void): () => void {
  let pressed = 0;
  const listener = (): void => {
    pressed += 1;
    if (pressed === 1) first();
    else second();
  };
  process.on('SIGINT', listener);
  return () => process.off('SIGINT', listener);
}

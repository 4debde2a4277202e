/** The device a run uses on this machine, and whether it is another one than it asked for. */
export interface ChosenDevice {
  readonly device: string;
  readonly fallback: boolean;
}

/**
 * A device as submitted (`auto`, `cpu`, `cuda`, `cuda:N`, `mps`, `mps:N`) in the form that slots have. `auto` is the processor; a kind alone is
 * its current card; a card that is not there is replaced by the current one of its kind, or else by the processor.
 */
export function canonicalDevice(asked: string, offered: readonly string[], current = 0): ChosenDevice {
  const [kind] = asked.split(':');
  if (asked === 'auto' || kind === 'cpu') return { device: 'cpu', fallback: false };
  if (offered.includes(asked)) return { device: asked, fallback: false };
  const cards = offered.filter((device) => device.startsWith(`${kind}:`));
  const card = cards.includes(`${kind}:${current}`) ? `${kind}:${current}` : cards[0];
  return { device: card ?? 'cpu', fallback: card === undefined || asked !== kind };
}

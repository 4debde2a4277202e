/** How a run sees the devices that it was given. */
export interface DeviceView {
  /** The run's own name of its first device. */
  readonly device: string;
  /** For `CUDA_VISIBLE_DEVICES`: the numbers of the run's cards in the order given; null for a run without cards. */
  readonly visible: string | null;
  /** The run's name of each card -> the machine's, such as `cuda:0` -> `cuda:2`. */
  readonly aliases: Readonly<Record<string, string>>;
}

const CARD = /^cuda:(\d+)$/;

/**
 * What a run sees that was given these devices: its N-th card is its `cuda:N`, whatever the machine calls it; other devices keep their names.
 *
 * @param devices of one kind, as the machine numbers them; at least one
 */
export function deviceView(devices: readonly string[]): DeviceView {
  const cards = devices.flatMap((device) => CARD.exec(device)?.[1] ?? []);
  if (cards.length === 0) return { device: devices[0] ?? 'cpu', visible: null, aliases: {} };
  const aliases = cards.map((card, index) => [`cuda:${index}`, `cuda:${card}`] as const);
  return { device: 'cuda:0', visible: cards.join(','), aliases: Object.fromEntries(aliases) };
}

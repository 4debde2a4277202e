/** A device of a machine, as its inventory shows it. Sizes in bytes; null where the system does not tell. */
export interface DeviceFacts {
  /** `cpu`, `cuda:N` (N in the order of the PCI bus), `mps:N`. */
  readonly device: string;
  /** The product's name. */
  readonly name: string;
  /** What NVML calls the card, whatever its number is; null for what has no such name. */
  readonly uuid: string | null;
  readonly total_bytes: number | null;
  readonly free_bytes: number | null;
  /** Share of the last sample period in which it computed, 0 to 100. */
  readonly utilization: number | null;
}

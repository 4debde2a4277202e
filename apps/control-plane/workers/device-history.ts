import type { DeviceFacts } from '@cdui/protocol';

const SAMPLES = 60;
const SAMPLE_MS = 60_000;
const FIELDS = 3;

/** One minute of a device. Bytes; shares 0 to 100; null where nothing is known. */
export interface DeviceSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly free_bytes: number | null;
  readonly utilization: number | null;
}

/** The last hour of a worker's devices, in typed arrays: thousands of workers must cost little. From the first change on. */
export class DeviceHistory {
  private readonly rings = new Map<string, Float64Array>();
  private lastAt = -Infinity;
  private next = 0;

  /** @param now milliseconds since the epoch */
  record(devices: readonly DeviceFacts[], now: number): void {
    if (now - this.lastAt < SAMPLE_MS && now >= this.lastAt) return;
    this.lastAt = now;
    const place = (this.next % SAMPLES) * FIELDS;
    // What was there an hour ago is not there now.
    for (const ring of this.rings.values()) ring.fill(NaN, place, place + FIELDS);
    for (const { device, free_bytes: free, utilization } of devices) {
      let ring = this.rings.get(device);
      if (!ring) this.rings.set(device, (ring = new Float64Array(SAMPLES * FIELDS).fill(NaN)));
      ring.set([now, free ?? NaN, utilization ?? NaN], place);
    }
    this.next += 1;
  }

  /** By device, the oldest first; a device that was not seen for an hour is not there any more. */
  get samples(): Readonly<Record<string, readonly DeviceSample[]>> {
    const all = [...this.rings].map(([device, ring]) => [device, this.read(ring)] as const);
    return Object.fromEntries(all.filter(([, samples]) => samples.length > 0));
  }

  private read(ring: Float64Array): readonly DeviceSample[] {
    const samples: DeviceSample[] = [];
    for (let index = Math.max(0, this.next - SAMPLES); index < this.next; index++) {
      const [at = NaN, free = NaN, utilization = NaN] = ring.subarray((index % SAMPLES) * FIELDS);
      if (!Number.isNaN(at)) samples.push({ at, free_bytes: known(free), utilization: known(utilization) });
    }
    return samples;
  }
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

import { renameSync, writeFileSync } from 'node:fs';
import { load } from 'koffi';
import { compileC } from './compile';

/** A card as the fake NVML reports it. */
export interface FakeCard {
  /** Such as `00000000:0A:00.0`: decides the order. */
  readonly busId: string;
  readonly uuid: string;
  readonly name?: string;
  /** Bytes; null: the card does not tell. */
  readonly total?: number | null;
  readonly used?: number;
  readonly utilization?: number | null;
  /** Whatever is asked of it is answered with `NVML_ERROR_GPU_IS_LOST`. */
  readonly lost?: boolean;
}

export interface FakePlan {
  readonly cards?: readonly FakeCard[];
  /** Every call blocks until a plan without it is written. */
  readonly wedge?: boolean;
  /** What `nvmlInit_v2` returns (0). */
  readonly init?: number;
}

/**
 * Compiles the fake `libnvidia-ml`; its folder is the caller's to remove. A program uses it when it is started with
 * `CODEFYUI_NVML_LIBRARY=<the returned path>` and `FAKE_NVML_PLAN=<the file given to writePlan>` in its environment.
 */
export function buildFakeNvml(): Promise<string> {
  return compileC('fake-nvml.c', ['-shared', '-fPIC']);
}

/** Writes the plan that the fake follows from its next call on (one that is wedged: at once). */
export function writePlan(file: string, plan: FakePlan): void {
  const lines = [
    `init ${plan.init ?? 0}`,
    ...(plan.wedge ? ['wedge 1'] : []),
    ...(plan.cards ?? []).map((card) => {
      const total = card.total === undefined ? 1024 ** 3 : (card.total ?? -1);
      const fields = [
        card.busId,
        card.uuid,
        total,
        card.used ?? 0,
        card.utilization === null ? -1 : (card.utilization ?? 0),
      ];
      return `card ${[...fields, card.lost ? 1 : 0, card.name ?? 'Fake GPU'].join('\t')}`;
    }),
  ];
  // Renamed into place: the fake never reads half of it.
  writeFileSync(`${file}.new`, `${lines.join('\n')}\n`);
  renameSync(`${file}.new`, file);
}

/** What the fake counted in this process. */
export interface FakeCounts {
  readonly calls: () => number;
  readonly outstanding: () => number;
  readonly maxOutstanding: () => number;
}

export function fakeCounts(library: string): FakeCounts {
  const fake = load(library);
  const counter = (name: string): (() => number) => fake.func(`int fake_nvml_${name}()`);
  return {
    calls: counter('calls'),
    outstanding: counter('outstanding'),
    maxOutstanding: counter('max_outstanding'),
  };
}

/** Sets a variable where C code of this process sees it: jest's `process.env` is only a copy. */
export function setNativeVariable(name: string, value: string): void {
  load(null).func('int setenv(const char *name, const char *value, int overwrite)')(name, value, 1);
}

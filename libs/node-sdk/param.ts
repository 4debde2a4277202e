import type { ParamDefinition, ParamType } from '@cdui/protocol';

/** A parameter without its name: what the helpers of `param` make. */
export type ParamSpec = Omit<ParamDefinition, 'name'>;

export interface ParamExtras {
  readonly description?: string;
  /** The values of siblings for which a panel shows it; hidden params still count. */
  readonly visibleWhen?: Readonly<Record<string, unknown>>;
  /** Whether panels fold it away. */
  readonly advanced?: boolean;
}

export interface NumberExtras extends ParamExtras {
  /** Inclusive bounds. */
  readonly min?: number;
  readonly max?: number;
}

/** One helper per parameter type; the first argument is the default. */
export const param = {
  int: (initial: number | null, extras: NumberExtras = {}): ParamSpec => number('int', initial, extras),
  float: (initial: number | null, extras: NumberExtras = {}): ParamSpec => number('float', initial, extras),
  text: (initial: string | null, extras: ParamExtras = {}): ParamSpec => make('string', initial, extras),
  bool: (initial: boolean, extras: ParamExtras = {}): ParamSpec => make('bool', initial, extras),
  select: (initial: string | null, options: readonly string[], extras: ParamExtras = {}): ParamSpec => ({
    ...make('select', initial, extras),
    options: [...options],
  }),
  /** Nested lists of numbers. */
  tensorGrid: (initial: unknown, extras: ParamExtras = {}): ParamSpec => make('tensor_grid', initial, extras),
  modelFile: (initial: string, extras: ParamExtras = {}): ParamSpec => make('model_file', initial, extras),
  imageFile: (initial: string, extras: ParamExtras = {}): ParamSpec => make('image_file', initial, extras),
  dataFile: (initial: string, extras: ParamExtras = {}): ParamSpec => make('data_file', initial, extras),
  /** Lives for the session only: never stored, logged or exported. */
  secret: (extras: ParamExtras = {}): ParamSpec => make('secret', '', extras),
};

function number(type: ParamType, initial: number | null, extras: NumberExtras): ParamSpec {
  return { ...make(type, initial, extras), min_value: extras.min ?? null, max_value: extras.max ?? null };
}

function make(type: ParamType, initial: unknown, extras: ParamExtras): ParamSpec {
  return {
    param_type: type,
    default: initial,
    description: extras.description ?? '',
    options: [],
    min_value: null,
    max_value: null,
    visible_when: extras.visibleWhen ?? null,
    advanced: extras.advanced ?? false,
  };
}

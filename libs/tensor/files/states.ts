import { CodedError } from '@cdui/protocol';
import type { HostTensor } from '../runtime';
import type { SafetensorsFile } from './safetensors';

/** The state whose tensors bear their plain names, so that other programs find the weights under PyTorch's names. */
export const MODEL_STATE = 'model';
/** Metadata entry that lists the states of a file of ours, as JSON. */
const STATES_KEY = 'states';

type Tensors = Readonly<Record<string, HostTensor>>;

/**
 * Several states as the tensors of one file: those of `model` under their own names, those of any other state under `<state>/<name>`. The
 * metadata lists the states, so that one without tensors comes back too.
 * @throws CodedError `invalid_argument` when two names would be the same
 */
export function joinStates(
  states: Readonly<Record<string, Tensors>>,
  metadata: Readonly<Record<string, string>>,
): SafetensorsFile {
  const names = Object.keys(states);
  if (Object.hasOwn(metadata, STATES_KEY)) {
    throw new CodedError('invalid_argument', `the metadata entry '${STATES_KEY}' is taken: choose another name`, {
      entry: STATES_KEY,
    });
  }
  const tensors: Record<string, HostTensor> = {};
  for (const [state, entries] of Object.entries(states)) {
    for (const [name, tensor] of Object.entries(entries)) {
      const key = state === MODEL_STATE ? name : `${state}/${name}`;
      if (Object.hasOwn(tensors, key) || (state === MODEL_STATE && owner(key, names) !== MODEL_STATE)) {
        throw new CodedError('invalid_argument', `two states would write a tensor named '${key}': rename one`, {
          name: key,
        });
      }
      tensors[key] = tensor;
    }
  }
  return { tensors, metadata: { ...metadata, [STATES_KEY]: JSON.stringify(names) } };
}

/** The states of a file; one that another program wrote is the state `model`. */
export function splitStates(file: SafetensorsFile): {
  readonly states: Readonly<Record<string, Tensors>>;
  readonly metadata: Readonly<Record<string, string>>;
} {
  const { [STATES_KEY]: listed, ...metadata } = file.metadata;
  const names = parseNames(listed) ?? [MODEL_STATE];
  const states: Record<string, Record<string, HostTensor>> = Object.create(null) as Record<
    string,
    Record<string, HostTensor>
  >;
  for (const name of names) states[name] = Object.create(null) as Record<string, HostTensor>;
  for (const [key, tensor] of Object.entries(file.tensors)) {
    const state = owner(key, names);
    const entries = (states[state] ??= Object.create(null) as Record<string, HostTensor>);
    entries[state === MODEL_STATE ? key : key.slice(state.length + 1)] = tensor;
  }
  return { states, metadata };
}

function owner(key: string, names: readonly string[]): string {
  return names.find((name) => name !== MODEL_STATE && key.startsWith(`${name}/`)) ?? MODEL_STATE;
}

function parseNames(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null;
  } catch {
    return null;
  }
}

import type { HostTensor } from '../runtime';
import { joinStates, readSafetensors, splitStates, writeSafetensors } from '../files';
import type { StateValue } from './objects';
import { dataOf, metaOf, tensorOf, type DataArray } from './tensors';

/** Writes states to one safetensors file. @throws CodedError `file_unwritable`, `invalid_argument` */
export function saveStates(
  path: string,
  states: Readonly<Record<string, StateValue>>,
  metadata: Readonly<Record<string, string>>,
): { bytes: number; sha256: string } {
  const host = Object.entries(states).map(([name, state]): [string, Record<string, HostTensor>] => [
    name,
    Object.fromEntries([...state.tensors].map(([key, tensor]) => [key, { ...metaOf(tensor), data: dataOf(tensor) }])),
  ]);
  const joined = joinStates(Object.fromEntries(host), metadata);
  return writeSafetensors(path, joined.tensors, joined.metadata);
}

/** Reads the states of a safetensors file. @throws CodedError `invalid_safetensors`, `file_unreadable` */
export function loadStates(path: string): {
  states: Record<string, StateValue>;
  metadata: Readonly<Record<string, string>>;
} {
  const { states, metadata } = splitStates(readSafetensors(path));
  const values = Object.entries(states).map(([name, tensors]): [string, StateValue] => [
    name,
    {
      kind: 'state',
      tensors: new Map(
        Object.entries(tensors).map(([key, { shape, dtype, data }]) => [
          key,
          tensorOf(dtype, shape, data as DataArray),
        ]),
      ),
    },
  ]);
  return { states: Object.fromEntries(values), metadata };
}

import type { InputReader, ParamReader, PortSpec } from '@cdui/node-sdk';

/** A loader that takes its path from a saver runs after it: nothing else in a graph says which comes first. */
export const PATH_INPUT: PortSpec = ['STRING?', 'The file in place of the parameter, as a saver gives it'];

/** The path on the port `path` if one is connected, else the param. */
export function chosenPath(inputs: InputReader, params: ParamReader): string {
  return inputs.has('path') ? inputs.text('path') : params.text('path');
}

import type { NodeType } from '@cdui/node-sdk';
import type { Params } from '@cdui/protocol';

/** The node's params with the defaults of its type where the file has none; params that no definition lists stay. */
export function fillParams(type: NodeType, params: Params): Params {
  const filled: Record<string, unknown> = {};
  for (const param of type.definition.params) filled[param.name] = param.default;
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}

import { CodedError } from '@cdui/protocol';

export interface GraphRequest {
  readonly graph: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly overwrite: boolean;
}

/** Reads `{graph, name?, overwrite?}`; a graph file as the whole body is taken as well. @throws CodedError `invalid_body` */
export function graphRequest(body: unknown): GraphRequest {
  const request = object(body, '');
  const whole = !Object.hasOwn(request, 'graph') && Array.isArray(request['nodes']);
  const graph = whole ? request : object(request['graph'], 'graph');
  if (!Array.isArray(graph['nodes'])) throw refusal(whole ? 'nodes' : 'graph.nodes', 'must be a list');
  const { name, overwrite = false } = whole ? { name: undefined } : request;
  if (name !== undefined && name !== null && typeof name !== 'string') throw refusal('name', 'must be a text');
  if (typeof overwrite !== 'boolean') throw refusal('overwrite', 'must be true or false');
  return { graph, overwrite, ...(typeof name === 'string' && { name }) };
}

export interface RenameRequest {
  readonly from: string;
  readonly to: string;
  readonly overwrite: boolean;
}

/** Reads `{from, to, overwrite?}`. @throws CodedError `invalid_body` */
export function renameRequest(body: unknown): RenameRequest {
  const { from, to, overwrite = false } = object(body, '');
  if (typeof from !== 'string') throw refusal('from', 'must be the name of a graph');
  if (typeof to !== 'string') throw refusal('to', 'must be a name');
  if (typeof overwrite !== 'boolean') throw refusal('overwrite', 'must be true or false');
  return { from, to, overwrite };
}

function object(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refusal(field, 'must be an object');
}

function refusal(field: string, what: string): CodedError {
  return new CodedError('invalid_body', `${field === '' ? 'The body' : field} ${what}`, { field });
}

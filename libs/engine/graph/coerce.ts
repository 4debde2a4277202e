import type { GraphIssue } from '@cdui/protocol';
import type { ContractInput, GraphContract, GraphInputType } from './contract';
import { Issues } from './issues';
import { isObject, listNames, nestsTooDeep, own, show } from './json';

/** Values of a call, by input name; optional inputs that were not given are left to the node's default. */
export interface CoercedInputs {
  readonly values: Readonly<Record<string, unknown>>;
  readonly issues: readonly GraphIssue[];
}

/**
 * Checks a call's values against the contract. Strict: a text is no number, a truth value is no number, `3.0` is an integer; an
 * image is base64 or a data URL (the node decodes it). Unknown names are refused.
 */
export function coerceInputs(contract: GraphContract, given: unknown): CoercedInputs {
  const issues = new Issues();
  if (!isObject(given)) {
    issues.add('invalid_input', null, `The inputs must be an object of values by name, got ${show(given)}`);
    return { values: {}, issues: issues.list };
  }
  const names = contract.inputs.map((input) => input.name);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    issues.add('invalid_input', null, `The graph has no input ${show(name)}; its inputs are ${listNames(names)}`, {
      input: name,
    });
  }
  const values = contract.inputs.flatMap((input) => {
    const value = own(given, input.name);
    if (value === undefined) {
      if (input.required) report(issues, input, 'is required: give it a value');
      return [];
    }
    const problem = problemOf(value, input.type);
    if (problem !== null) {
      report(issues, input, `must be ${problem}, got ${show(value)}`);
      return [];
    }
    return [[input.name, value] as const];
  });
  return { values: Object.fromEntries(values), issues: issues.list };
}

function problemOf(value: unknown, type: GraphInputType): string | null {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? null : 'a text';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? null : 'a number';
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) ? null : 'a whole number';
    case 'boolean':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'json':
      return nestsTooDeep(value) ? 'JSON that nests less deeply' : null;
    case 'image':
      return isImageText(value) ? null : 'an image as base64 or as a data URL';
  }
}

const DATA_URL = /^data:image\/[a-zA-Z0-9.+-]+;base64,/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

function isImageText(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const body = value.replace(DATA_URL, '').replace(/\s+/g, '');
  return body !== '' && BASE64.test(body);
}

function report(issues: Issues, input: ContractInput, problem: string): void {
  issues.add('invalid_input', input.node_id, `Input "${input.name}" (${input.type}) ${problem}`, {
    input: input.name,
    type: input.type,
  });
}

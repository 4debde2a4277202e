import { RuntimeError } from '../../runtime/errors';
import { writeModel, type NodeProto, type TensorProto } from '../writer';
import type { Graph } from './graph';
import type { Op, Value } from './value';

export interface EncodedGraph {
  readonly bytes: Uint8Array;
  /** Names of the graph inputs that the outputs depend on. */
  readonly inputs: readonly string[];
  readonly nodes: number;
}

/** Trailing outputs of these are left out when nobody reads them: MaxPool without indices takes a tenth of the time. */
const OPTIONAL_OUTPUTS: ReadonlySet<string> = new Set(['MaxPool', 'LayerNormalization']);

/** Ops that `roots` depend on, each after those it needs. Iterative: recorded tapes get deep. */
export function opsInOrder(roots: Iterable<Value>, inputsOf: (op: Op) => readonly (Value | null)[]): readonly Op[] {
  const order: Op[] = [];
  const entered = new Set<Op>();
  const stack: { readonly op: Op; next: number }[] = [];
  const enter = (value: Value | null) => {
    if (!value?.op || entered.has(value.op)) return;
    entered.add(value.op);
    stack.push({ op: value.op, next: 0 });
  };
  for (const root of roots) {
    enter(root);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const inputs = inputsOf(top.op);
      if (top.next < inputs.length) enter(inputs[top.next++]!);
      else {
        order.push(top.op);
        stack.pop();
      }
    }
  }
  return order;
}

/**
 * ONNX bytes that compute `outputs`; only what they need is written.
 * @throws RuntimeError `invalid_argument` when an output has the name of an input
 */
export function encodeGraph(_graph: Graph, outputs: Readonly<Record<string, Value>>): EncodedGraph {
  const ops = opsInOrder(Object.values(outputs), (op) => op.inputs);
  const inputs = new Map<string, Value>();
  const constants = new Map<Value, TensorProto>();
  const names = new Map<Value, string>();
  const extra: NodeProto[] = [];
  for (const [name, value] of Object.entries(outputs)) {
    // A value with a producer takes the output's name; inputs, constants and second names need a node of their own.
    if (value.op && !names.has(value)) names.set(value, name);
    else extra.push(identity(value, name));
  }
  // Names of inner values start with '~', which no port or parameter name does.
  const nameOf = (value: Value): string => names.get(value) ?? value.inputName ?? `~${value.id}`;
  const use = (value: Value | null): string => {
    if (!value) return '';
    if (value.constant && !constants.has(value)) {
      constants.set(value, { name: nameOf(value), dtype: value.dtype, shape: value.shape, data: value.constant });
    } else if (value.inputName !== undefined) inputs.set(value.inputName, value);
    return nameOf(value);
  };
  const consumed = new Set<Value | null>(ops.flatMap((op) => op.inputs));
  const nodes = ops.map((op): NodeProto => {
    const wanted = (value: Value) => consumed.has(value) || names.has(value);
    const last = OPTIONAL_OUTPUTS.has(op.type) ? op.outputs.findLastIndex(wanted) : op.outputs.length;
    return {
      type: op.type,
      domain: op.domain,
      inputs: op.inputs.map(use),
      outputs: op.outputs.slice(0, last + 1).map(nameOf),
      attributes: op.attributes,
    };
  });
  for (const node of extra) nodes.push(node);
  for (const value of Object.values(outputs)) if (!value.op) use(value);
  for (const name of Object.keys(outputs)) {
    if (inputs.has(name)) {
      throw new RuntimeError(
        'invalid_argument',
        `graph output '${name}' has the name of a graph input: choose another`,
      );
    }
  }
  const bytes = writeModel({
    nodes,
    initialisers: [...constants.values()],
    inputs: [...inputs].map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
    outputs: Object.entries(outputs).map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
  });
  return { bytes, inputs: [...inputs.keys()], nodes: nodes.length };

  function identity(value: Value, name: string): NodeProto {
    const from = value.op ? names.get(value)! : (value.inputName ?? `~${value.id}`);
    return { type: 'Identity', domain: '', inputs: [from], outputs: [name], attributes: {} };
  }
}

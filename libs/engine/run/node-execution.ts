import type { NodeInputs, NodeResult, NodeType, TraceStep } from '@cdui/node-sdk';
import type { OutputEntry, Params, PortFacts } from '@cdui/protocol';
import type { Scope, TensorRef } from '@cdui/tensor/runtime';
import type { PlannedNode } from '../plan-types';
import { ExecutionContext } from './node-context';
import type { RunEnvironment } from './run-environment';
import { openNodeScope } from './run-environment';
import type { RunWeights } from './run-weights';
import type { ValueReader } from './value-facts';

/** What one execution came to, while its scope is still open. */
export interface Execution {
  readonly result: NodeResult;
  /** Whether the node returned knowing that it should stop. */
  readonly leftEarly: boolean;
  readonly shown: readonly OutputEntry[];
  readonly ports: readonly PortFacts[];
  /** Tensors of recorded steps, by port. */
  readonly traced: Readonly<Record<string, TensorRef>>;
}

/** What to execute. */
export interface ExecutionTask {
  readonly node: PlannedNode;
  readonly type: NodeType;
  readonly params: Params;
  readonly inputs: NodeInputs;
}

/**
 * Executes a node once, in a scope of its own. `use` gets what came of it before the scope closes: handles that are to live on are taken
 * over there. Resolves when everything that the node queued has run, so that a failure is this node's and nobody else's.
 */
export async function executeOnce<T>(
  run: RunEnvironment,
  task: ExecutionTask,
  tools: { readonly reader: ValueReader; readonly weights: RunWeights | null },
  use: (execution: Execution, scope: Scope) => T | Promise<T>,
): Promise<T> {
  const { node, type, params, inputs } = task;
  const scope = openNodeScope(run, node.id);
  const weights = tools.weights?.of(node, scope) ?? null;
  const context = new ExecutionContext(run, node, scope, weights);
  try {
    const result = await type.execute(context, inputs, params);
    const leftEarly = context.knowsOfStop;
    const ports = await settled(scope, describe(tools.reader, scope, result, context.steps));
    const traced = stepTensors(context.steps);
    const used = await use({ result, leftEarly, shown: context.entries(result), ports, traced }, scope);
    weights?.commit();
    return used;
  } finally {
    weights?.close();
    context.releaseBorrowed();
    scope.close();
  }
}

/** Waits for the reads and for the scope, whichever fails. */
async function settled<T>(scope: Scope, reads: Promise<T>): Promise<T> {
  const [read, settle] = await Promise.allSettled([reads, scope.settle()]);
  if (settle.status === 'rejected') throw settle.reason;
  if (read.status === 'rejected') throw read.reason;
  return read.value;
}

async function describe(
  reader: ValueReader,
  scope: Scope,
  result: NodeResult,
  steps: readonly TraceStep[],
): Promise<readonly PortFacts[]> {
  const [ports, traced] = await Promise.all([reader.outputs(scope, result.outputs), stepFacts(reader, scope, steps)]);
  return [...ports, ...traced];
}

async function stepFacts(
  reader: ValueReader,
  scope: Scope,
  steps: readonly TraceStep[],
): Promise<readonly PortFacts[]> {
  if (steps.length === 0) return [];
  const overview: PortFacts = {
    port: '__steps__',
    kind: 'steps',
    steps: steps.map(({ name, description, scalars, tensors }, index) => ({
      index,
      name,
      description,
      scalars: scalars ?? {},
      tensor_keys: Object.keys(tensors ?? {}),
    })),
  };
  const tensors = Object.entries(stepTensors(steps)).map(async ([port, tensor]): Promise<PortFacts> => ({
    port,
    ...(await reader.tensor(scope, tensor)),
  }));
  return [overview, ...(await Promise.all(tensors))];
}

const NO_TENSORS: Readonly<Record<string, TensorRef>> = {};

function stepTensors(steps: readonly TraceStep[]): Readonly<Record<string, TensorRef>> {
  if (steps.length === 0) return NO_TENSORS;
  return Object.fromEntries(
    steps.flatMap(({ tensors }, index) =>
      Object.entries(tensors ?? {}).map(([key, tensor]) => [`__step__${index}__${key}`, tensor]),
    ),
  );
}

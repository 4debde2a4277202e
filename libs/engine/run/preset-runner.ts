import type { NodeInputs, PortValue } from '@cdui/node-sdk';
import { handlesOf } from '@cdui/node-sdk';
import { CodedError } from '@cdui/protocol';
import { MAX_DEPTH } from '../graph/flatten';
import type { PresetPlan } from '../graph/plan-preset';
import { planPreset } from '../graph/plan-preset';
import type { PlannedNode } from '../plan-types';
import { failureOf, isStop } from './failure';
import { fillParams } from './fill-params';
import { QuietContext } from './node-context';
import { producersOf } from './progress-board';
import { ResultStore } from './result-store';
import type { PresetCall, RunEnvironment } from './run-environment';
import { openNodeScope } from './run-environment';

/**
 * Runs installed presets as functions: the value enters the first exposed input, the first exposed output comes back. Inner nodes
 * execute one after the other, each call afresh.
 */
export class PresetRunner {
  private readonly plans = new Map<string, PresetPlan>();

  /**
   * @throws CodedError `unknown_preset`, `malformed_preset`, `preset_too_deep`, `missing_result`; an inner node's error with its own code, naming the
   * preset, the item and the node
   */
  async call(call: PresetCall, run: RunEnvironment): Promise<PortValue> {
    const path = [...call.within, call.name];
    if (path.length > MAX_DEPTH) throw tooDeep(path);
    const preset = this.plan(call.name, run);
    const { nodes } = preset.plan;
    const readers = readersOf(preset);
    const results = new ResultStore(false);
    try {
      for (const node of nodes) {
        run.stop.signal.throwIfAborted();
        await this.execute(node, call, run, { preset, results, readers: readers.get(node.id) ?? 0 });
        for (const producer of producersOf(node)) results.read(producer);
      }
      const value = results.get(preset.output.node, preset.output.port);
      if (value === undefined) {
        throw new CodedError(
          'missing_result',
          `Preset "${call.name}" gave no value for item ${call.index}: the output "${preset.output.port}" of its node "${innerName(preset.output.node)}" stayed empty`,
          { preset: call.name, index: call.index, port: preset.output.port },
        );
      }
      call.borrow(handlesOf(value));
      return value;
    } finally {
      results.clear();
    }
  }

  private async execute(
    node: PlannedNode,
    call: PresetCall,
    run: RunEnvironment,
    within: { readonly preset: PresetPlan; readonly results: ResultStore; readonly readers: number },
  ): Promise<void> {
    const id = `${call.caller.id}[${call.index}]/${innerName(node.id)}`;
    const scope = openNodeScope(run, id);
    const context = new QuietContext(run, { id, origin: call.caller.origin }, scope, [...call.within, call.name]);
    try {
      const type = run.registry.get(node.type);
      if (!type) throw new CodedError('unknown_node_type', `There is no node type "${node.type}"`, { type: node.type });
      const inputs = inputsOf(node, call.input, within);
      const { outputs, interrupted } = await type.execute(context, inputs, fillParams(type, node.params));
      await scope.settle();
      // Half a result is none: the caller stops as if it had been asked itself.
      if (interrupted) run.stop.signal.throwIfAborted();
      within.results.put(node.id, outputs, within.readers, scope);
    } catch (error) {
      throw isStop(error, run.stop.signal) ? error : innerError(error, call, node);
    } finally {
      context.releaseBorrowed();
      scope.close();
    }
  }

  private plan(name: string, { registry, presets }: RunEnvironment): PresetPlan {
    const known = this.plans.get(name);
    if (known) return known;
    const definition = presets.get(name);
    if (!definition) {
      const installed = presets.names().join(', ') || 'none';
      const message = `There is no installed preset "${name}"; installed are: ${installed}`;
      throw new CodedError('unknown_preset', message, { preset: name });
    }
    const planned = planPreset(definition, { registry, presets });
    if ('issues' in planned) {
      const problems = planned.issues.map(({ message }) => message).join('; ');
      throw new CodedError('malformed_preset', `Preset "${name}" cannot run: ${problems}`, { preset: name });
    }
    this.plans.set(name, planned);
    return planned;
  }
}

/** How many inner nodes read each node's outputs; the result itself is read once more, at the end. */
function readersOf({ plan, output }: PresetPlan): ReadonlyMap<string, number> {
  const readers = new Map([[output.node, 1]]);
  for (const node of plan.nodes) {
    for (const producer of producersOf(node)) readers.set(producer, (readers.get(producer) ?? 0) + 1);
  }
  return readers;
}

function inputsOf(
  node: PlannedNode,
  item: PortValue,
  { preset, results }: { readonly preset: PresetPlan; readonly results: ResultStore },
): NodeInputs {
  const inputs = Object.fromEntries(
    Object.entries(node.inputs).map(([port, source]) => [port, results.get(source.node, source.port)]),
  );
  return node.id === preset.input.node ? { ...inputs, [preset.input.port]: item } : inputs;
}

function tooDeep(path: readonly string[]): CodedError {
  const message = `Presets run each other deeper than ${MAX_DEPTH} levels (${path.join(' -> ')}): take one of them out`;
  return new CodedError('preset_too_deep', message, { path, limit: MAX_DEPTH });
}

function innerError(error: unknown, call: PresetCall, node: PlannedNode): Error {
  const { message, type } = failureOf(error);
  const inner = innerName(node.id);
  const text = `Preset "${call.name}", item ${call.index}, node "${inner}": ${message}`;
  return new CodedError(type, text, { preset: call.name, index: call.index, node: inner }, { cause: error });
}

/** The inner node's id in the preset: without the stand-in instance that the planner opened. */
function innerName(id: string): string {
  return id.slice(id.indexOf('__') + 2);
}

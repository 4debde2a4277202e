import type { ModuleRef, OptimizerRef, ParamMeta, StateRef, TensorRef } from '../handles';
import { optimizerEntries } from '../specs';
import type { Replies } from '../wire';
import { mapValues, type ScopeCore } from './scope-core';

// What a scope does with weights and optimiser states: copies that stay in the runtime, and their way into files and back.

export function snapshot(scope: ScopeCore, source: ModuleRef | OptimizerRef): StateRef {
  scope.checkOpen('snapshot');
  scope.use(source, 'snapshot');
  const entries =
    source.kind === 'module' ? source.parameters : optimizerEntries(source.spec, source.module.parameters);
  const state = scope.newState(entries);
  scope.send(['snapshot', state.id, source.id], [state.id]);
  return state;
}

export async function restore(
  scope: ScopeCore,
  target: ModuleRef | OptimizerRef,
  state: StateRef,
  options: { strict?: boolean } = {},
): Promise<{ missing: string[]; unexpected: string[] }> {
  scope.checkOpen('restore');
  scope.use(target, 'restore');
  scope.use(state, 'restore');
  const reply = await scope.ask<Replies['restore']>(['restore', target.id, state.id, options.strict ?? false]);
  return { missing: [...reply.missing], unexpected: [...reply.unexpected] };
}

export async function saveState(
  scope: ScopeCore,
  path: string,
  states: Readonly<Record<string, StateRef>>,
  metadata: Readonly<Record<string, string>>,
): Promise<{ bytes: number; sha256: string }> {
  scope.checkOpen('saveState');
  for (const state of Object.values(states)) scope.use(state, 'saveState');
  return scope.ask<Replies['save']>(['save', path, mapValues(states, (state) => state.id), { ...metadata }]);
}

export async function loadState(
  scope: ScopeCore,
  path: string,
): Promise<{ states: Record<string, StateRef>; metadata: Record<string, string> }> {
  scope.checkOpen('loadState');
  const found = await scope.ask<Replies['load']>(['load', path]);
  const states: Record<string, StateRef> = {};
  for (const [name, entries] of Object.entries(found.states)) {
    const state = scope.newState(entries);
    scope.send(['adopt', state.id, path, name], [state.id]);
    states[name] = state;
  }
  // Adopted all the same, so that the runtime does not keep them for nobody.
  if (scope.closed) scope.owned.close();
  scope.checkOpen('loadState');
  return { states, metadata: { ...found.metadata } };
}

export function stateFrom(scope: ScopeCore, entries: Readonly<Record<string, TensorRef>>): StateRef {
  scope.checkOpen('stateFrom');
  for (const tensor of Object.values(entries)) scope.use(tensor, 'stateFrom');
  const metas = Object.entries(entries).map(([name, { shape, dtype }]): ParamMeta => ({
    name,
    shape,
    dtype,
    trainable: true,
  }));
  const state = scope.newState(metas);
  scope.send(['state', state.id, mapValues(entries, (tensor) => tensor.id)], [state.id]);
  return state;
}

export function tensorsOf(scope: ScopeCore, state: StateRef): Readonly<Record<string, TensorRef>> {
  scope.checkOpen('tensorsOf');
  scope.use(state, 'tensorsOf');
  const tensors = Object.fromEntries(state.entries.map((entry) => [entry.name, scope.newTensor(entry)]));
  const ids = mapValues(tensors, (tensor) => tensor.id);
  scope.send(['tensors', state.id, ids], Object.values(ids));
  return tensors;
}

import { invalid } from '../fields';
import type { GeneratorRef, Handle, ModuleRef, TensorRef } from '../handles';
import { elements, inferOp, normaliseRange, opDef } from '../ops';
import { inferModule, moduleParameters, validateModule } from '../specs';
import type { Device, HostTensor } from '../values';
import type { ModuleSpec, OpName, OpTable, Precision, SliceRange } from '../vocabulary';
import type { Replies } from '../wire';
import { checkHostTensor, ownBuffer } from './host-data';
import { asRemote } from './ownership';
import { ModuleHandle, type TensorHandle } from './refs';
import { mapValues, type ScopeCore } from './scope-core';

// What a scope computes: tensors in, ops, modules, gradients, numbers out.

export function opMany<N extends OpName>(
  scope: ScopeCore,
  name: N,
  inputs: readonly TensorRef[],
  attrs: OpTable[N],
  options: { generator?: GeneratorRef } = {},
): readonly TensorRef[] {
  scope.checkRunning(name);
  for (const input of inputs) scope.use(input, name);
  const inferred = scope.labelled(name, () => inferOp(name, inputs, attrs));
  const outputs = inferred.outputs.map((meta) => scope.newTensor(meta));
  const random = opDef(name).random ? { gen: scope.generatorId(options.generator, name) } : {};
  const context = { ...(scope.options.recordGradients ? { grad: true } : {}), ...random };
  const ids = outputs.map((output) => output.id);
  scope.send(['op', name, inputs.map((input) => input.id), ids, inferred.attrs, context], ids, name);
  return outputs;
}

export function upload(
  scope: ScopeCore,
  value: HostTensor,
  options: { device?: Device; requiresGrad?: boolean } = {},
): TensorRef {
  scope.checkOpen('upload');
  scope.labelled('upload', () => {
    checkHostTensor(value, 'upload');
    scope.checkDevice(options.device);
  });
  const tensor = scope.newTensor({ shape: [...value.shape], dtype: value.dtype });
  const data = ownBuffer(value.data);
  const grad = options.requiresGrad ? { grad: true } : {};
  scope.send((blob) => ['put', tensor.id, tensor.shape, value.dtype, blob(data), grad], [tensor.id]);
  return tensor;
}

export function to(scope: ScopeCore, tensor: TensorRef, device: Device): TensorRef {
  scope.checkOpen('to');
  scope.use(tensor, 'to');
  scope.labelled('to', () => scope.checkDevice(device));
  scope.owned.hold(asRemote(tensor).retain());
  return tensor;
}

export function module(
  scope: ScopeCore,
  spec: ModuleSpec,
  options: { generator?: GeneratorRef; device?: Device } = {},
): ModuleRef {
  scope.checkOpen('module');
  const parameters = scope.labelled('module', () => {
    scope.checkDevice(options.device);
    validateModule(spec);
    return moduleParameters(spec);
  });
  const generator = scope.generatorId(options.generator, 'module');
  const module = scope.newModule(spec, parameters);
  scope.send(['module', module.id, spec, generator], [module.id]);
  return module;
}

export function forward(
  scope: ScopeCore,
  module: ModuleRef,
  inputs: Readonly<Record<string, TensorRef>>,
  options: { mode: 'train' | 'eval'; precision?: Precision },
): Readonly<Record<string, TensorRef>> {
  scope.checkRunning('forward');
  scope.use(module, 'forward');
  for (const input of Object.values(inputs)) scope.use(input, 'forward');
  const { mode, precision = 'fp32' } = options;
  const metas = scope.labelled('forward', () => {
    scope.checkPrecision(precision);
    return module instanceof ModuleHandle ? module.infer(inputs, mode) : inferModule(module.spec, inputs, mode);
  });
  const gen = scope.generatorId(undefined, 'forward');
  const outputs = mapValues(metas, (meta) => scope.newTensor(meta));
  const ids = mapValues(outputs, (output) => output.id);
  const grad = scope.options.recordGradients ?? false;
  const context = { mode, precision, grad, gen };
  scope.send(['forward', module.id, mapValues(inputs, (input) => input.id), ids, context], Object.values(ids));
  return outputs;
}

export async function backward(
  scope: ScopeCore,
  of: TensorRef,
  wanted: { tensors: readonly TensorRef[]; modules: readonly ModuleRef[] },
): Promise<{ tensors: (TensorRef | null)[]; parameters: Record<string, TensorRef | null>[] }> {
  scope.checkRunning('backward');
  if (!scope.options.recordGradients) {
    throw scope.named(invalid('backward needs a scope opened with recordGradients'), 'backward');
  }
  scope.use(of, 'backward');
  for (const handle of [...wanted.tensors, ...wanted.modules]) scope.use(handle, 'backward');
  const tensors = wanted.tensors.map((tensor) => scope.newTensor(tensor));
  const parameters = wanted.modules.map((module) =>
    Object.fromEntries(
      module.parameters.filter(({ trainable }) => trainable).map((meta) => [meta.name, scope.newTensor(meta)]),
    ),
  );
  const ids = [...tensors, ...parameters.flatMap((map) => Object.values(map))].map((tensor) => tensor.id);
  const idOf = (handle: Handle) => handle.id;
  const reply = await scope.ask<Replies['backward']>(
    [
      'backward',
      of.id,
      wanted.tensors.map(idOf),
      wanted.modules.map(idOf),
      tensors.map(idOf),
      parameters.map((map) => mapValues(map, idOf)),
    ],
    ids,
  );
  const existing = (tensor: TensorHandle, exists: boolean | undefined): TensorRef | null => {
    if (!exists) scope.owned.drop(tensor);
    return exists ? tensor : null;
  };
  return {
    tensors: tensors.map((tensor, at) => existing(tensor, reply.tensors[at])),
    parameters: parameters.map((map, at) =>
      mapValues(map, (tensor, name) => existing(tensor, reply.parameters[at]?.[name])),
    ),
  };
}

export async function read(
  scope: ScopeCore,
  tensor: TensorRef,
  options: { ranges?: readonly SliceRange[] } = {},
): Promise<HostTensor> {
  scope.checkOpen('read');
  scope.use(tensor, 'read');
  const ranges = options.ranges
    ? scope.labelled('read', () => {
        const { ranges: given } = options;
        if (given!.length > tensor.shape.length) {
          throw invalid(`too many ranges for a tensor of dimension ${tensor.shape.length}: got ${given!.length}`);
        }
        return tensor.shape.map((size, at) => normaliseRange(given![at] ?? {}, size, at));
      })
    : null;
  return scope.ask<Replies['read']>(['read', tensor.id, ranges]);
}

export async function readScalar(scope: ScopeCore, tensor: TensorRef): Promise<number> {
  scope.checkOpen('readScalar');
  if (elements(tensor.shape) !== 1) {
    throw scope.named(
      invalid(`a tensor with ${elements(tensor.shape)} elements cannot be read as one number`),
      'readScalar',
    );
  }
  const { data } = await read(scope, tensor);
  return Number((data as unknown as ArrayLike<number | bigint>)[0]);
}

import { totalmem } from 'node:os';
import type { Tensor } from 'onnxruntime-node';
import { elements, RuntimeError, type MemoryFacts, type NormalRange } from '../runtime';
import type { BlobRef, Command, Replies } from '../runtime/wire';
import { Backward, existing } from './backward';
import type { Compiler } from './compiler';
import { EagerOps } from './eager';
import { Evaluator } from './evaluator';
import { createModule, ModuleForward } from './modules';
import { ObjectTable, type StateValue } from './objects';
import { OptimizerValue } from './optimizers';
import { Generator } from './random';
import type { SessionCache } from './sessions';
import { loadStates, saveStates } from './state-files';
import { entriesOf, restore, snapshot } from './states';
import { statsOf } from './stats';
import { leaf, plain } from './tape';
import { aliasOf, bytesOf, dataOf, hostCopy, newData, sliceCopy, tensorOf, viewAs } from './tensors';
import { Trainer } from './trainer';

type Name = Command[0];
type Of<N extends Name> = Extract<Command, readonly [N, ...unknown[]]>;
type Blobs = readonly ArrayBufferView[];
type Reply<N extends Name> = N extends keyof Replies ? Replies[N] : void;
type Handlers = { readonly [N in Name]: (command: Of<N>, blobs: Blobs) => Reply<N> | Promise<Reply<N>> };

export interface CommandParts {
  readonly compiler: Compiler;
  readonly sessions: SessionCache;
  /** Compare results with shape inference. */
  readonly check: boolean;
  readonly device: string;
  /** Milliseconds of a steady clock. */
  now(): number;
  /** Resident memory of the process in bytes. */
  rss(): number;
}

/** Commands that are answered; all others only acknowledge. */
export const REPLYING: ReadonlySet<Name> = new Set<Name>([
  'read',
  'stats',
  'collect',
  'scaler',
  'collectEval',
  'backward',
  'restore',
  'save',
  'load',
  'memory',
  'releaseCache',
  'sync',
]);

/** Commands that may take long; they are acknowledged on their own. */
export const HEAVY: ReadonlySet<Name> = new Set<Name>([
  'step',
  'stepHost',
  'eval',
  'evalHost',
  'forward',
  'backward',
  'save',
  'load',
]);

/** The ids that a command's failure leaves without a value. */
export function outputsOf(command: Command): readonly number[] {
  switch (command[0]) {
    case 'op':
      return command[3];
    case 'forward':
    case 'tensors':
      return Object.values(command[0] === 'forward' ? command[3] : command[2]);
    case 'backward':
      return [...command[4], ...command[5].flatMap((map) => Object.values(map))];
    case 'put':
    case 'write':
    case 'gen':
    case 'module':
    case 'optimizer':
    case 'bind':
    case 'trainer':
    case 'hyper':
    case 'step':
    case 'stepHost':
    case 'discard':
    case 'evaluator':
    case 'eval':
    case 'evalHost':
    case 'snapshot':
    case 'state':
    case 'adopt':
      return [command[1]];
    default:
      return [];
  }
}

/** What each command does. Handlers that need no session run at once, the others return a promise. */
export class Commands {
  readonly objects = new ObjectTable();
  private readonly eager: EagerOps;
  private readonly forward: ModuleForward;
  private readonly backward: Backward;
  /** States read from files and not yet adopted, by path. */
  private readonly loaded = new Map<string, Record<string, StateValue>>();
  private readonly handlers: Handlers;
  private peak = 0;

  constructor(private readonly parts: CommandParts) {
    const { compiler, sessions, check } = parts;
    this.eager = new EagerOps(compiler, sessions, check);
    this.forward = new ModuleForward(compiler, sessions, check);
    this.backward = new Backward(compiler, sessions);
    this.handlers = this.table();
  }

  run(command: Command, blobs: Blobs): unknown {
    const handler = this.handlers[command[0]] as ((command: Command, blobs: Blobs) => unknown) | undefined;
    if (!handler) throw new RuntimeError('protocol', `unknown command '${String(command[0])}'`);
    return handler(command, blobs);
  }

  /** Notes the memory in use, for the peak. */
  sampleMemory(): number {
    const used = this.parts.rss();
    if (used > this.peak) this.peak = used;
    return used;
  }

  private table(): Handlers {
    const { objects, parts } = this;
    const generator = (id: number) => objects.get(id, 'generator').generator;
    const tensors = (ids: Readonly<Record<string, number>>): Record<string, Tensor> => {
      const result: Record<string, Tensor> = {};
      for (const name in ids) result[name] = objects.tensor(ids[name]!);
      return result;
    };
    const weighted = (id: number) => {
      const object = objects.any(id);
      if (object.kind === 'module' || object.kind === 'optimizer') return object;
      throw new RuntimeError(
        'invalid_argument',
        `handle ${id} is a ${object.kind}, a module or an optimizer is needed`,
      );
    };
    return {
      init: ([, { device, threads }]) => {
        if (device !== parts.device) {
          throw new RuntimeError(
            'unsupported',
            `device ${device} is not served by this runtime: it runs on ${parts.device}`,
          );
        }
        parts.sessions.threads = threads;
      },
      op: async ([, name, inputs, outputs, attrs, context]) => {
        const values = await this.eager.run({
          name,
          inputs: inputs.map((id) => objects.get(id, 'tensor')),
          attrs,
          grad: context.grad ?? false,
          generator: () => generator(requiredId(context.gen, `${name} needs a generator`)),
        });
        for (let at = 0; at < outputs.length; at++) objects.set(outputs[at]!, values[at]!);
      },
      put: ([, id, shape, dtype, blob, { grad }], blobs) => {
        const count = elements(shape);
        const data = blob ? viewAs(dtype, blobAt(blobs, blob)) : newData(dtype, count);
        if (data.length !== count) {
          throw new RuntimeError(
            'shape_mismatch',
            `shape [${shape.join(', ')}] has ${count} elements, but the data has ${data.length}`,
          );
        }
        const tensor = tensorOf(dtype, shape, data);
        objects.set(id, grad ? leaf(tensor) : plain(tensor));
      },
      write: ([, id, offset, blob], blobs) => {
        const data = dataOf(objects.tensor(id));
        const bytes = blobAt(blobs, blob);
        if (offset < 0 || offset + bytes.byteLength > data.byteLength) {
          throw new RuntimeError(
            'invalid_argument',
            `bytes ${offset} to ${offset + bytes.byteLength} do not lie in a tensor of ${data.byteLength}`,
          );
        }
        new Uint8Array(data.buffer, data.byteOffset, data.byteLength).set(
          new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
          offset,
        );
      },
      free: ([, ids]) => {
        let closing: Promise<void> | undefined;
        for (const id of ids) {
          const object = objects.free(id);
          if (object?.kind === 'trainer') closing = chained(closing, object);
        }
        return closing;
      },
      read: ([, id, ranges]) => {
        const tensor = objects.tensor(id);
        return ranges ? sliceCopy(tensor, ranges as readonly NormalRange[]) : hostCopy(tensor);
      },
      stats: ([, id]) => statsOf(objects.tensor(id)),
      gen: ([, id, seed]) => objects.set(id, { kind: 'generator', generator: new Generator(seed) }),
      module: ([, id, spec, gen]) => objects.set(id, createModule(spec, generator(gen))),
      forward: async ([, id, inputs, outputs, { mode, precision, grad, gen }]) => {
        if (precision !== 'fp32') {
          throw new RuntimeError('unsupported', `precision ${precision} is not available on this runtime: use fp32`);
        }
        const module = objects.get(id, 'module');
        const values = Object.fromEntries(
          Object.entries(inputs).map(([port, input]) => [port, objects.get(input, 'tensor')]),
        );
        const results = await this.forward.run({ module, inputs: values, mode, grad, generator: () => generator(gen) });
        for (const port in outputs) objects.set(outputs[port]!, results[port]!);
      },
      optimizer: ([, id, module, spec]) =>
        objects.set(id, new OptimizerValue(parts.compiler, objects.get(module, 'module'), spec)),
      bind: ([, id, from, to, how]) => {
        const optimizer = objects.get(from, 'optimizer');
        const module = objects.get(to, 'module');
        objects.set(id, how === 'reused' ? optimizer : optimizer.boundTo(module, how === 'rebound'));
      },
      trainer: ([, id, wire]) => {
        const module = objects.get(wire.module, 'module');
        objects.set(
          id,
          new Trainer(parts, wire, module, objects.get(wire.optimizer, 'optimizer'), generator(wire.gen)),
        );
      },
      hyper: ([, id, hyper]) => objects.get(id, 'trainer').setHyper(hyper),
      step: ([, id, from, rows, apply, scale], blobs) =>
        objects
          .get(id, 'trainer')
          .stepRows(tensors(from), viewAs('int32', blobAt(blobs, rows)) as Int32Array, apply, scale),
      stepHost: ([, id, fields, apply, scale], blobs) =>
        objects.get(id, 'trainer').step(hostFields(fields, blobs), apply, scale),
      collect: ([, id]) => {
        this.sampleMemory();
        return objects.get(id, 'trainer').collect();
      },
      discard: ([, id]) => objects.get(id, 'trainer').discard(),
      // No mixed precision, so no loss scale: a state that is set is forgotten.
      scaler: ([, id]) => {
        objects.get(id, 'trainer');
        return null;
      },
      evaluator: ([, id, wire]) => {
        objects.set(id, new Evaluator(parts, wire, objects.get(wire.module, 'module')));
      },
      eval: ([, id, from, rows], blobs) =>
        objects.get(id, 'evaluator').stepRows(tensors(from), viewAs('int32', blobAt(blobs, rows)) as Int32Array),
      evalHost: ([, id, fields], blobs) => objects.get(id, 'evaluator').step(hostFields(fields, blobs)),
      collectEval: ([, id]) => {
        this.sampleMemory();
        return objects.get(id, 'evaluator').collect();
      },
      backward: async ([, of, wanted, modules, outputs, parameterOutputs]) => {
        const result = await this.backward.run({
          of: objects.get(of, 'tensor'),
          tensors: wanted.map((id) => objects.get(id, 'tensor')),
          modules: modules.map((id) => objects.get(id, 'module')),
        });
        result.tensors.forEach((tensor, at) => {
          if (tensor) objects.set(outputs[at]!, plain(tensor));
        });
        result.parameters.forEach((map, at) => {
          for (const [name, tensor] of Object.entries(map))
            if (tensor) objects.set(parameterOutputs[at]![name]!, plain(tensor));
        });
        return existing(result);
      },
      snapshot: ([, id, from]) => objects.set(id, snapshot(weighted(from))),
      restore: ([, to, state, strict]) => restore(weighted(to), objects.get(state, 'state'), strict),
      state: ([, id, entries]) =>
        objects.set(id, { kind: 'state', tensors: new Map(Object.entries(tensors(entries))) }),
      tensors: ([, id, outputs]) => {
        const state = objects.get(id, 'state');
        for (const name in outputs) {
          const tensor = state.tensors.get(name);
          if (!tensor) throw new RuntimeError('invalid_argument', `the state has no tensor named '${name}'`);
          objects.set(outputs[name]!, plain(aliasOf(tensor)));
        }
      },
      save: ([, path, states, metadata]) => {
        const values = Object.entries(states).map(([name, id]) => [name, objects.get(id, 'state')] as const);
        return saveStates(path, Object.fromEntries(values), metadata);
      },
      load: ([, path]) => {
        const { states, metadata } = loadStates(path);
        this.loaded.set(path, { ...states });
        return {
          states: Object.fromEntries(Object.entries(states).map(([name, state]) => [name, entriesOf(state)])),
          metadata,
        };
      },
      adopt: ([, id, path, name]) => {
        const states = this.loaded.get(path);
        const state = states?.[name];
        if (!states || !state)
          throw new RuntimeError('protocol', `no state '${name}' of ${path} is waiting: load the file first`);
        delete states[name];
        if (Object.keys(states).length === 0) this.loaded.delete(path);
        objects.set(id, state);
      },
      memory: () => this.memory(),
      resetPeak: () => {
        this.peak = parts.rss();
      },
      releaseCache: async () => {
        await parts.sessions.clear();
        return null;
      },
      sync: () => null,
      end: () => undefined,
    };
  }

  private memory(): MemoryFacts {
    const used = this.sampleMemory();
    const { device } = this.parts;
    // Other threads share the process, so its resident memory is more than this runtime's.
    return {
      device,
      used,
      peak: this.peak,
      cap: null,
      total: totalmem(),
      exact: false,
      liveHandles: this.objects.size,
    };
  }
}

async function chained(before: Promise<void> | undefined, trainer: Trainer): Promise<void> {
  await before;
  await trainer.close();
}

function requiredId(id: number | undefined, message: string): number {
  if (id === undefined) throw new RuntimeError('protocol', message);
  return id;
}

function blobAt(blobs: Blobs, { blob }: BlobRef): ArrayBufferView {
  const bytes = blobs[blob];
  if (!bytes) throw new RuntimeError('protocol', `the frame has no blob number ${blob}`);
  return bytes;
}

function hostFields(fields: Of<'stepHost'>[2], blobs: Blobs): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { shape, dtype, data }]) => {
      const bytes = blobAt(blobs, data);
      if (bytes.byteLength !== elements(shape) * bytesOf(dtype)) {
        throw new RuntimeError(
          'shape_mismatch',
          `batch field '${name}' of shape [${shape.join(', ')}] has ${bytes.byteLength} bytes`,
        );
      }
      return [name, tensorOf(dtype, shape, viewAs(dtype, bytes))];
    }),
  );
}

import type { Tensor } from 'onnxruntime-node';
import { RuntimeError } from '../runtime';
import type { Evaluator } from './evaluator';
import type { ModuleValue } from './modules';
import type { OptimizerValue } from './optimizers';
import type { Generator } from './random';
import type { Origin } from './tape';
import type { Trainer } from './trainer';

/** A tensor in the table; `origin` is where it stands in the record of gradients, null without one. */
export interface TensorValue {
  readonly kind: 'tensor';
  readonly tensor: Tensor;
  readonly origin: Origin | null;
}

/** Tensors by name: a copy of weights or of an optimiser's state. Tensors never change, so it shares them. */
export interface StateValue {
  readonly kind: 'state';
  readonly tensors: ReadonlyMap<string, Tensor>;
}

export interface GeneratorValue {
  readonly kind: 'generator';
  readonly generator: Generator;
}

interface Kinds {
  tensor: TensorValue;
  module: ModuleValue;
  optimizer: OptimizerValue;
  trainer: Trainer;
  evaluator: Evaluator;
  generator: GeneratorValue;
  state: StateValue;
}
export type Kind = keyof Kinds;
export type ServerObject = Kinds[Kind];

/** Marks the outputs of a failed command: the sequence number of the first cause. */
class Failed {
  constructor(readonly cause: number) {}
}

/** Thrown when a command uses something that failed before; `first` is the command that failed first. */
export class Poisoned extends Error {
  constructor(readonly first: number) {
    super('an input failed');
  }
}

/** Everything a client has handles of, by id. */
export class ObjectTable {
  private readonly objects = new Map<number, ServerObject | Failed>();

  /** Live handles. */
  get size(): number {
    return this.objects.size;
  }

  set(id: number, object: ServerObject): void {
    this.objects.set(id, object);
  }

  fail(id: number, cause: number): void {
    this.objects.set(id, new Failed(cause));
  }

  /** Forgets an id; returns what it stood for, if it had a value. */
  free(id: number): ServerObject | null {
    const object = this.objects.get(id);
    this.objects.delete(id);
    return object === undefined || object instanceof Failed ? null : object;
  }

  clear(): void {
    this.objects.clear();
  }

  /**
   * The object of a handle.
   * @throws Poisoned when the command that should have made it failed
   * @throws RuntimeError `handle_freed`, `invalid_argument`
   */
  get<K extends Kind>(id: number, kind: K): Kinds[K] {
    const object = this.any(id);
    if (object.kind !== kind) {
      throw new RuntimeError('invalid_argument', `handle ${id} is a ${object.kind}, a ${kind} is needed`);
    }
    return object as Kinds[K];
  }

  any(id: number): ServerObject {
    const object = this.objects.get(id);
    if (object === undefined) throw new RuntimeError('handle_freed', `handle ${id} does not exist or was freed`);
    if (object instanceof Failed) throw new Poisoned(object.cause);
    return object;
  }

  tensor(id: number): Tensor {
    return this.get(id, 'tensor').tensor;
  }
}

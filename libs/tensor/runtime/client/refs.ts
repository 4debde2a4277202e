import { RuntimeError } from '../errors';
import type { GeneratorRef, Handle, ModuleRef, OptimizerRef, ParamMeta, StateRef, TensorRef } from '../handles';
import type { Device, DType, Shape } from '../values';
import { showShape } from '../ops';
import { inferModule } from '../specs';
import type { ModuleSpec, OptimizerSpec, TensorMeta } from '../vocabulary';
import type { Connection } from './connection';

/** A reference-counted id. It starts with one reference, its creator's; the last release frees it in the runtime. */
export class RemoteHandle implements Handle {
  private references = 1;

  constructor(
    readonly connection: Connection,
    readonly id: number,
    readonly label: string,
  ) {}

  get freed(): boolean {
    return this.references === 0;
  }

  retain(): this {
    this.checkLive();
    this.references++;
    return this;
  }

  release(): void {
    this.checkLive();
    this.references--;
    if (this.references === 0) this.connection.free(this.id);
  }

  checkLive(op?: string): void {
    if (this.references > 0) return;
    throw new RuntimeError(
      'handle_freed',
      `${this.describe()} of '${this.label}' was freed: retain it, or keep it before its scope closes`,
      { label: this.label, ...(op ? { op } : {}) },
    );
  }

  protected describe(): string {
    return 'a handle';
  }
}

export class TensorHandle extends RemoteHandle implements TensorRef {
  readonly kind = 'tensor';

  constructor(
    connection: Connection,
    id: number,
    label: string,
    readonly shape: Shape,
    readonly dtype: DType,
    readonly device: Device,
  ) {
    super(connection, id, label);
  }

  protected override describe(): string {
    return `the ${this.dtype} tensor [${this.shape.join(', ')}]`;
  }
}

/** Combinations of input shapes whose outputs a module remembers. */
const KNOWN_SHAPES = 32;

export class ModuleHandle extends RemoteHandle implements ModuleRef {
  readonly kind = 'module';
  private readonly known = new Map<string, Readonly<Record<string, TensorMeta>>>();

  constructor(
    connection: Connection,
    id: number,
    label: string,
    readonly spec: ModuleSpec,
    readonly parameters: readonly ParamMeta[],
    readonly device: Device,
  ) {
    super(connection, id, label);
  }

  /** `inferModule`, remembered: a loop calls a module with the same shapes again and again. */
  infer(inputs: Readonly<Record<string, TensorMeta>>, mode: 'train' | 'eval'): Readonly<Record<string, TensorMeta>> {
    let key: string = mode;
    for (const [port, { dtype, shape }] of Object.entries(inputs)) key += `|${port}:${dtype}${showShape(shape)}`;
    const known = this.known.get(key);
    if (known) return known;
    const outputs = inferModule(this.spec, inputs, mode);
    if (this.known.size >= KNOWN_SHAPES) this.known.clear();
    this.known.set(key, outputs);
    return outputs;
  }

  protected override describe(): string {
    return 'the module';
  }
}

export class OptimizerHandle extends RemoteHandle implements OptimizerRef {
  readonly kind = 'optimizer';

  constructor(
    connection: Connection,
    id: number,
    label: string,
    readonly spec: OptimizerSpec,
    readonly module: ModuleRef,
  ) {
    super(connection, id, label);
  }

  protected override describe(): string {
    return `the optimizer ${this.spec.type}`;
  }
}

export class GeneratorHandle extends RemoteHandle implements GeneratorRef {
  readonly kind = 'generator';

  constructor(
    connection: Connection,
    id: number,
    label: string,
    readonly seed: number,
  ) {
    super(connection, id, label);
  }

  protected override describe(): string {
    return 'the generator';
  }
}

export class StateHandle extends RemoteHandle implements StateRef {
  readonly kind = 'state';

  constructor(
    connection: Connection,
    id: number,
    label: string,
    readonly entries: readonly ParamMeta[],
  ) {
    super(connection, id, label);
  }

  protected override describe(): string {
    return 'the state';
  }
}

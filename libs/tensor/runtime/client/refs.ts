import { RuntimeError } from '../errors';
import type { GeneratorRef, Handle, ModuleRef, OptimizerRef, ParamMeta, StateRef, TensorRef } from '../handles';
import type { Device, DType, Shape } from '../values';
import type { ModuleSpec, OptimizerSpec } from '../vocabulary';
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

export class ModuleHandle extends RemoteHandle implements ModuleRef {
  readonly kind = 'module';

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

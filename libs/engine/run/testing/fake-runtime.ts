import type { Handle, HostTensor, ModuleRef, Scope, TensorRef, TensorRuntime } from '@cdui/tensor/runtime';

/** A handle with a reference count; alive until it falls to zero. */
class FakeHandle implements Handle {
  private count = 1;
  readonly [member: string]: unknown;

  constructor(
    readonly id: number,
    readonly label: string,
    private readonly gone: (handle: FakeHandle) => void,
    members: object,
  ) {
    Object.assign(this, members);
  }

  get freed(): boolean {
    return this.count === 0;
  }

  retain(): this {
    this.check();
    this.count += 1;
    return this;
  }

  release(): void {
    this.check();
    this.count -= 1;
    if (this.count === 0) this.gone(this);
  }

  private check(): void {
    if (this.freed) throw new Error(`handle ${this.id} of ${this.label} is freed`);
  }
}

/**
 * A runtime without arithmetic, for tests of the engine: it stores what is uploaded, counts references as the real client does, and
 * refuses freed handles.
 */
export class FakeRuntime {
  readonly live = new Set<Handle>();
  readonly scopes: string[] = [];
  released = 0;
  private last = 0;

  get runtime(): TensorRuntime {
    const facts = { kind: 'onnx', version: '0', device: 'cpu', deviceName: 'fake', pid: 0, threads: 1, numerics: {} };
    const runtime = {
      facts: { ...facts, precisions: new Set(['fp32']) },
      openScope: (options: { label: string; seed?: number; signal?: AbortSignal }) => this.openScope(options),
      ready: () => Promise.resolve(),
      resetPeak: () => undefined,
      memory: () => Promise.resolve({ device: 'cpu', peak: 1, exact: false, liveHandles: this.live.size }),
      close: () => Promise.resolve(),
      releaseCache: () => {
        this.released += 1;
        return Promise.resolve();
      },
    };
    return runtime as unknown as TensorRuntime;
  }

  /** Labels of scopes that were never closed. */
  readonly open = new Set<string>();

  private openScope({ label, seed }: { label: string; seed?: number }): Scope {
    const owned = new Set<FakeHandle>();
    this.scopes.push(seed === undefined ? label : `${label}#${seed}`);
    this.open.add(label);
    const make = (members: object): FakeHandle => {
      this.last += 1;
      const handle = new FakeHandle(this.last, label, (freed) => this.live.delete(freed), members);
      this.live.add(handle);
      owned.add(handle);
      return handle;
    };
    const scope = {
      label,
      upload: ({ shape, dtype, data }: HostTensor) =>
        make({ kind: 'tensor', shape, dtype, data, device: 'cpu' }) as unknown as TensorRef,
      module: (spec: object) => make({ kind: 'module', spec, parameters: [] }) as unknown as ModuleRef,
      read: (tensor: TensorRef & { readonly data: ArrayBufferView }) => {
        if (tensor.freed) return Promise.reject(new Error(`handle ${tensor.id} is freed`));
        return Promise.resolve({ shape: tensor.shape, dtype: tensor.dtype, data: tensor.data });
      },
      keep: (handle: FakeHandle) => {
        if (handle.freed) throw new Error(`handle ${handle.id} is freed`);
        return owned.delete(handle) ? handle : handle.retain();
      },
      settle: () => Promise.resolve(),
      close: () => {
        for (const handle of owned) handle.release();
        owned.clear();
        this.open.delete(label);
      },
    };
    return scope as unknown as Scope;
  }
}

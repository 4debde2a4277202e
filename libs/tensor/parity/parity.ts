import { join } from 'node:path';
import { readSafetensors } from '../files';
import type { HostTensor, ModuleRef, Scope, TensorRef, TensorRuntime } from '../runtime';
import { goldenCases, type GoldenCase } from './cases';

/** The largest deviation of one case: infinity norm of the difference over that of the golden tensor (at least 0.001). */
export interface ParityResult {
  readonly name: string;
  readonly error: number;
  /** The tensor that deviates most. */
  readonly tensor: string;
}

type Tensors = Readonly<Record<string, HostTensor>>;
type Compare = (label: string, actual: TensorRef, golden: string) => Promise<void>;

/** Runs every golden case on a runtime, through the seam alone. */
export async function measureParity(runtime: TensorRuntime, folder: string): Promise<readonly ParityResult[]> {
  const tensors = readSafetensors(join(folder, 'golden.safetensors')).tensors;
  const results: ParityResult[] = [];
  for (const item of goldenCases(folder)) {
    const scope = runtime.openScope({ label: item.name, seed: 1, recordGradients: true });
    let worst: ParityResult = { name: item.name, error: 0, tensor: '' };
    const compare: Compare = async (label, actual, golden) => {
      const error = deviation(await scope.read(actual), tensors[golden]!, label);
      if (!(error <= worst.error)) worst = { name: item.name, error, tensor: label };
    };
    try {
      await runCase(scope, item, tensors, compare);
      await scope.settle();
    } finally {
      scope.close();
    }
    results.push(worst);
  }
  return results;
}

async function runCase(scope: Scope, item: GoldenCase, tensors: Tensors, compare: Compare): Promise<void> {
  switch (item.kind) {
    case 'module':
      return runModule(scope, item, tensors, compare);
    case 'op':
      return runOp(scope, item, tensors, compare);
    case 'loss':
      return runLoss(scope, item, tensors, compare);
    case 'training':
      return runTraining(scope, item, tensors, compare);
  }
}

async function runModule(
  scope: Scope,
  item: GoldenCase & { kind: 'module' },
  tensors: Tensors,
  compare: Compare,
): Promise<void> {
  const module = await moduleWith(scope, item, tensors);
  const inputs = uploadAll(scope, item.inputs, tensors, true);
  const outputs = scope.forward(module, inputs, { mode: item.mode });
  for (const [port, golden] of Object.entries(item.outputs)) await compare(`output ${port}`, outputs[port]!, golden);
  const loss = Object.entries(item.upstream)
    .map(([port, upstream]) => weightedSum(scope, outputs[port]!, tensors[upstream]!))
    .reduce((a, b) => scope.op('add', [a, b], {}));
  const ports = Object.keys(inputs).filter((port) => `input:${port}` in item.gradients);
  const gradients = await scope.backward(loss, { tensors: ports.map((port) => inputs[port]!), modules: [module] });
  for (const [key, golden] of Object.entries(item.gradients)) {
    const [owner, name] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)];
    const gradient = owner === 'input' ? gradients.tensors[ports.indexOf(name)] : gradients.parameters[0]![name];
    if (!gradient) throw new Error(`${item.name}: no gradient for ${key}`);
    await compare(`gradient ${key}`, gradient, golden);
  }
  const state = scope.tensorsOf(scope.snapshot(module));
  for (const [name, golden] of Object.entries(item.buffers)) await compare(`buffer ${name}`, state[name]!, golden);
}

async function runOp(
  scope: Scope,
  item: GoldenCase & { kind: 'op' },
  tensors: Tensors,
  compare: Compare,
): Promise<void> {
  const inputs = item.inputs.map((key, i) => upload(scope, tensors[key]!, String(i) in item.gradients));
  const outputs = scope.opMany(item.op, inputs, item.attrs as never);
  for (const [i, golden] of item.outputs.entries()) await compare(`output ${i}`, outputs[i]!, golden);
  const entries = Object.entries(item.upstream ?? {});
  if (entries.length === 0) return;
  const loss = entries
    .map(([i, upstream]) => weightedSum(scope, outputs[Number(i)]!, tensors[upstream]!))
    .reduce((a, b) => scope.op('add', [a, b], {}));
  const wanted = Object.keys(item.gradients).map(Number);
  const gradients = await scope.backward(loss, { tensors: wanted.map((i) => inputs[i]!), modules: [] });
  for (const [position, i] of wanted.entries()) {
    const gradient = gradients.tensors[position];
    if (!gradient) throw new Error(`${item.name}: no gradient for input ${i}`);
    await compare(`gradient of input ${i}`, gradient, item.gradients[String(i)]!);
  }
}

async function runLoss(
  scope: Scope,
  item: GoldenCase & { kind: 'loss' },
  tensors: Tensors,
  compare: Compare,
): Promise<void> {
  const output = upload(scope, tensors[item.output]!, true);
  const value = scope.op('loss', [output, upload(scope, tensors[item.target]!, false)], item.spec);
  await compare('value', value, item.value);
  const gradients = await scope.backward(weightedSum(scope, value, tensors[item.upstream]!), {
    tensors: [output],
    modules: [],
  });
  await compare('gradient', gradients.tensors[0]!, item.gradient);
}

async function runTraining(
  scope: Scope,
  item: GoldenCase & { kind: 'training' },
  tensors: Tensors,
  compare: Compare,
): Promise<void> {
  const module = await moduleWith(scope, item, tensors);
  const from = {
    ...uploadAll(scope, item.inputs, tensors, false),
    target: upload(scope, tensors[item.target]!, false),
  };
  const trainer = scope.trainer({
    module,
    optimizer: scope.optimizer(module, item.optimizer),
    loss: item.loss,
    feed: { inputs: Object.fromEntries(Object.keys(item.inputs).map((port) => [port, port])), target: 'target' },
    precision: 'fp32',
    ...(item.clip === null ? {} : { clipGradNorm: item.clip, observe: { gradNorm: true } }),
  });
  const rows = tensors[item.target]!.shape[0]!;
  const steps = tensors[item.losses]!.shape[0]!;
  for (let step = 0; step < steps; step++)
    await trainer.step({ rows: Int32Array.from({ length: rows }, (_, i) => i), from });
  const columns = await trainer.collect();
  await compare('losses', column(scope, columns.loss), item.losses);
  if (item.norms !== null) await compare('gradient norms', column(scope, columns.gradNorm!), item.norms);
  const state = scope.tensorsOf(scope.snapshot(module));
  for (const [name, golden] of Object.entries(item.after)) await compare(`weight ${name}`, state[name]!, golden);
  trainer.close();
}

async function moduleWith(
  scope: Scope,
  item: { readonly name: string; readonly spec: ModuleRef['spec']; readonly weights: Readonly<Record<string, string>> },
  tensors: Tensors,
): Promise<ModuleRef> {
  const module = scope.module(item.spec);
  await scope.restore(module, scope.stateFrom(uploadAll(scope, item.weights, tensors, false)), { strict: true });
  return module;
}

function uploadAll(
  scope: Scope,
  keys: Readonly<Record<string, string>>,
  tensors: Tensors,
  floatsRequireGrad: boolean,
): Record<string, TensorRef> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, key]) => {
      const tensor = tensors[key]!;
      return [name, upload(scope, tensor, floatsRequireGrad && tensor.dtype === 'float32')];
    }),
  );
}

/** Uploads a copy: the seam takes the buffer over, and cases share tensors. */
function upload(scope: Scope, tensor: HostTensor, requiresGrad: boolean): TensorRef {
  const bytes = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength).slice();
  const data = tensor.dtype === 'int64' ? new BigInt64Array(bytes.buffer) : new Float32Array(bytes.buffer);
  return scope.upload({ shape: tensor.shape, dtype: tensor.dtype, data }, { requiresGrad });
}

function weightedSum(scope: Scope, value: TensorRef, weights: HostTensor): TensorRef {
  return scope.op('sum', [scope.op('mul', [value, upload(scope, weights, false)], {})], {});
}

function column(scope: Scope, values: Float32Array): TensorRef {
  return scope.upload({ shape: [values.length], dtype: 'float32', data: values.slice() });
}

function deviation(actual: HostTensor, golden: HostTensor, label: string): number {
  if (actual.shape.join() !== golden.shape.join()) {
    throw new Error(`${label}: shape [${actual.shape.join()}], PyTorch has [${golden.shape.join()}]`);
  }
  const a = numbers(actual);
  const b = numbers(golden);
  let difference = 0;
  let scale = 1e-3;
  for (let i = 0; i < b.length; i++) {
    const distance = Math.abs(a[i]! - b[i]!);
    // A NaN compares false with everything and must not pass.
    if (!(distance <= difference)) difference = distance;
    scale = Math.max(scale, Math.abs(b[i]!));
  }
  return difference / scale;
}

function numbers(tensor: HostTensor): ArrayLike<number> {
  if (tensor.data instanceof BigInt64Array) return Array.from(tensor.data, Number);
  return tensor.data as unknown as ArrayLike<number>;
}

import { RuntimeError } from '../errors';
import { invalid } from '../fields';
import { inferModule, inferLoss } from '../specs';
import { showShape } from '../ops';
import type { Batch, Feed } from '../training';
import type { LossSpec, ModuleSpec, TensorMeta } from '../vocabulary';
import { checkHostTensor } from './host-data';
import type { RemoteHandle } from './refs';

/** A batch's fields as the module will see them, before `affine`. */
function fieldsOf(batch: Batch): Readonly<Record<string, TensorMeta>> {
  if ('host' in batch) {
    for (const [name, value] of Object.entries(batch.host)) checkHostTensor(value, `batch field '${name}'`);
    return batch.host;
  }
  const { rows, from } = batch;
  return Object.fromEntries(
    Object.entries(from).map(([name, tensor]) => {
      (tensor as unknown as RemoteHandle).checkLive('step');
      const { shape, dtype } = tensor;
      if (shape.length === 0) throw invalid(`batch field '${name}' has no rows: it is a tensor of no dimensions`);
      const bad = rows.find((row) => row < 0 || row >= shape[0]!);
      if (bad !== undefined) {
        throw invalid(`row ${bad} is out of range for the batch field '${name}' of ${shape[0]} rows`);
      }
      return [name, { shape: [rows.length, ...shape.slice(1)], dtype }];
    }),
  );
}

/** The output that goes to the loss. */
export function lossPort(spec: ModuleSpec, feed: Feed): string {
  const ports = spec.outputs.map(({ port }) => port);
  if (feed.output !== undefined) {
    if (!ports.includes(feed.output)) {
      throw invalid(`feed.output '${feed.output}' is not an output of the module; it has ${ports.join(', ')}`);
    }
    return feed.output;
  }
  if (ports.length !== 1) throw invalid(`feed.output must name one of the module's outputs ${ports.join(', ')}`);
  return ports[0]!;
}

/** Checks batches against module and loss, once per combination of shapes. */
export class BatchCheck {
  private readonly known = new Set<string>();
  private readonly used: readonly string[];
  private readonly output: string;

  constructor(
    private readonly spec: ModuleSpec,
    private readonly feed: Feed,
    private readonly loss: LossSpec | undefined,
    private readonly mode: 'train' | 'eval',
  ) {
    const inputs = Object.values(feed.inputs);
    this.used = [...new Set(feed.target === undefined ? inputs : [...inputs, feed.target])];
    this.output = lossPort(spec, feed);
  }

  /** The names of the fields that have to be sent. Throws what shape inference throws. */
  check(batch: Batch): readonly string[] {
    const fields = fieldsOf(batch);
    for (const name of this.used) {
      if (!fields[name]) {
        throw invalid(
          `the feed uses the batch field '${name}', but the batch has ${Object.keys(fields).join(', ') || 'none'}`,
        );
      }
    }
    const key = this.used.map((name) => `${fields[name]!.dtype}${showShape(fields[name]!.shape)}`).join();
    if (!this.known.has(key)) {
      this.infer(fields);
      this.known.add(key);
    }
    return this.used;
  }

  private infer(fields: Readonly<Record<string, TensorMeta>>): void {
    const { affine = {}, inputs, target } = this.feed;
    const seen = (name: string): TensorMeta =>
      Object.hasOwn(affine, name) ? { shape: fields[name]!.shape, dtype: 'float32' } : fields[name]!;
    const given = Object.fromEntries(Object.entries(inputs).map(([port, name]) => [port, seen(name)]));
    const output = inferModule(this.spec, given, this.mode)[this.output]!;
    if (!this.loss) return;
    const metas = target === undefined ? [output] : [output, seen(target)];
    const [result] = inferLoss(metas, this.loss);
    if (this.mode === 'train' && result!.shape.length > 0) {
      throw new RuntimeError(
        'invalid_argument',
        "a training step needs a loss of one number: use the reduction 'mean' or 'sum'",
        { op: this.loss.type },
      );
    }
  }
}

import type { Tensor } from 'onnxruntime-node';
import type { EmitContext } from './compiler';
import type { Graph } from './graph/graph';
import type { Generator } from './random';
import { tensorOf } from './tensors';

/**
 * Collects the uniform numbers that a graph wants: one graph input each, named `<prefix>uniform.<k>`. The inputs are fed with slices of
 * memory that JavaScript filled, which costs nothing in the graph.
 */
export class UniformInputs {
  readonly counts: number[] = [];

  constructor(
    private readonly graph: Graph,
    private readonly prefix = '',
  ) {}

  context(mode: EmitContext['mode']): EmitContext {
    return {
      mode,
      uniform: (count) => {
        this.counts.push(count);
        return this.graph.input(uniformName(this.prefix, this.counts.length - 1), [count]);
      },
    };
  }
}

export function uniformName(prefix: string, at: number): string {
  return `${prefix}uniform.${at}`;
}

/** Fresh numbers for each of `counts`. */
export function drawUniforms(counts: readonly number[], generator: Generator): readonly Float32Array[] {
  return counts.map((count) => {
    const values = new Float32Array(count);
    generator.uniform(values);
    return values;
  });
}

export function feedUniforms(feeds: Record<string, Tensor>, prefix: string, draws: readonly Float32Array[]): void {
  draws.forEach((values, at) => {
    feeds[uniformName(prefix, at)] = tensorOf('float32', [values.length], values);
  });
}

/** Up to so many numbers are drawn afresh for each step: about a millisecond. */
const FRESH = 32_768;
/** Larger steps renew at least this share of the pool. */
const RENEWED = 1 / 16;
/** Slices begin at multiples of 64 bytes. */
const ALIGN = 16;

/**
 * Random numbers for the steps of one trainer. A step that needs up to 32,768 gets fresh ones. A larger one reads a window of a pool twice
 * its need, at a place drawn anew for each step, and one sixteenth of the pool is renewed before each step, in turn: a number is
 * used by about eight steps, each time for another element, and after sixteen steps none of the old ones is left. Everything comes from the
 * trainer's generator, so a seeded run repeats.
 */
export class UniformPool {
  private pool = new Float32Array(0);
  private renewAt = 0;

  constructor(private readonly generator: Generator) {}

  /** One slice for each of `counts`, not overlapping; valid until the next call. */
  draw(counts: readonly number[]): readonly Float32Array[] {
    const need = counts.reduce((sum, count) => sum + roundUp(count), 0);
    const offset = need <= FRESH ? this.fresh(need) : this.window(need);
    let at = offset;
    return counts.map((count) => {
      const slice = this.pool.subarray(at, at + count);
      at += roundUp(count);
      return slice;
    });
  }

  private fresh(need: number): number {
    if (this.pool.length < need) this.pool = new Float32Array(need);
    this.generator.uniform(this.pool.subarray(0, need));
    return 0;
  }

  private window(need: number): number {
    const { pool, generator } = this;
    if (pool.length < 2 * need) {
      this.pool = new Float32Array(2 * need);
      generator.uniform(this.pool);
      this.renewAt = 0;
    } else {
      const share = roundUp(Math.ceil(pool.length * RENEWED));
      const end = Math.min(this.renewAt + share, pool.length);
      generator.uniform(pool.subarray(this.renewAt, end));
      this.renewAt = end === pool.length ? 0 : end;
    }
    const places = Math.floor((this.pool.length - need) / ALIGN) + 1;
    return generator.integers(1, places)[0]! * ALIGN;
  }
}

function roundUp(count: number): number {
  return Math.ceil(count / ALIGN) * ALIGN;
}

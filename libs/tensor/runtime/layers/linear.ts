import { bool, int, invalid, nullable, num, only, type Field } from '../fields';
import { mismatch, requireFloat, requireIndices, requireRank, SEQUENCES, showShape } from '../ops/meta';
import type { Init } from '../layer-def';
import { fanIn, layer, parameter, ZEROS } from './row';

export interface LinearParams {
  readonly in_features: number;
  readonly out_features: number;
  readonly bias: boolean;
}

/** `x W^T + b` over the last dimension. */
const Linear = layer(
  'Linear',
  { in_features: int({ min: 1 }), out_features: int({ min: 1 }), bias: bool(true) },
  {
    derive: (read): LinearParams => read,
    weights: ({ in_features, out_features, bias }) => [
      parameter('weight', [out_features, in_features], fanIn(in_features)),
      ...(bias ? [parameter('bias', [out_features], fanIn(in_features))] : []),
    ],
    infer: ([x], { in_features, out_features }) => {
      requireFloat(x!, 'Linear');
      const { shape } = x!;
      if (shape.length === 0 || shape.at(-1) !== in_features) {
        const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
        throw mismatch(
          `mat1 and mat2 shapes cannot be multiplied (${rows}x${shape.at(-1) ?? 1} and ${in_features}x${out_features}): ` +
            `Linear expects a last dimension of in_features = ${in_features}, got ${showShape(shape)}`,
        );
      }
      return [{ shape: [...shape.slice(0, -1), out_features], dtype: x!.dtype }];
    },
  },
);

export interface EmbeddingParams {
  readonly num_embeddings: number;
  readonly embedding_dim: number;
  /** Counted from the start; this row starts at zero and gets no gradient. */
  readonly padding_idx: number | null;
}

/** Rows of a table by index; N(0, 1) at first, the padding row zero. */
const Embedding = layer(
  'Embedding',
  {
    num_embeddings: int({ min: 1 }),
    embedding_dim: int({ min: 1 }),
    padding_idx: nullable(int()),
    max_norm: only(null),
    norm_type: only(2),
    scale_grad_by_freq: only(false),
    sparse: only(false),
  },
  {
    derive: ({ num_embeddings, embedding_dim, padding_idx }): EmbeddingParams => {
      if (padding_idx === null) return { num_embeddings, embedding_dim, padding_idx };
      if (padding_idx < -num_embeddings || padding_idx >= num_embeddings) {
        throw invalid(`Embedding: padding_idx must be within num_embeddings = ${num_embeddings}, got ${padding_idx}`);
      }
      return {
        num_embeddings,
        embedding_dim,
        padding_idx: padding_idx < 0 ? padding_idx + num_embeddings : padding_idx,
      };
    },
    weights: ({ num_embeddings, embedding_dim, padding_idx }) => {
      const init: Init = { kind: 'normal', std: 1, ...(padding_idx === null ? {} : { zeroRow: padding_idx }) };
      return [parameter('weight', [num_embeddings, embedding_dim], init)];
    },
    infer: ([x], { embedding_dim }) => {
      requireIndices(x!, 'Embedding');
      return [{ shape: [...x!.shape, embedding_dim], dtype: 'float32' }];
    },
  },
);

/** None, or the width the query has as well. */
const sameWidth: Field<number | null> = nullable(int({ min: 1 }));

export interface AttentionParams {
  readonly embed_dim: number;
  readonly num_heads: number;
  /** Of the attention weights, in training only. */
  readonly dropout: number;
  readonly bias: boolean;
  /** true: [batch, length, embed]; false: [length, batch, embed]. */
  readonly batch_first: boolean;
}

/** One input attends to itself; two are query and key = value; three are query, key, value. Outputs: result and weights averaged over heads. */
const MultiHeadAttention = layer(
  'MultiHeadAttention',
  {
    embed_dim: int({ min: 1 }),
    num_heads: int({ min: 1 }),
    dropout: num({ min: 0, max: 1, default: 0 }),
    bias: bool(true),
    add_bias_kv: only(false),
    add_zero_attn: only(false),
    kdim: sameWidth,
    vdim: sameWidth,
    batch_first: bool(false),
  },
  {
    arity: [1, 3],

    derive: ({ embed_dim, num_heads, dropout, bias, batch_first, kdim, vdim }): AttentionParams => {
      if (embed_dim % num_heads !== 0) {
        throw invalid(
          `MultiHeadAttention: embed_dim must be divisible by num_heads, got ${embed_dim} and ${num_heads}`,
        );
      }
      only(embed_dim)(kdim ?? undefined, 'MultiHeadAttention: kdim');
      only(embed_dim)(vdim ?? undefined, 'MultiHeadAttention: vdim');
      return { embed_dim, num_heads, dropout, bias, batch_first };
    },
    weights: ({ embed_dim, bias }) => [
      // Xavier: sqrt(6 / (fan in + fan out)) of the three stacked projections.
      parameter('in_proj_weight', [3 * embed_dim, embed_dim], {
        kind: 'uniform',
        bound: Math.sqrt(6 / (4 * embed_dim)),
      }),
      ...(bias ? [parameter('in_proj_bias', [3 * embed_dim], ZEROS)] : []),
      parameter('out_proj.weight', [embed_dim, embed_dim], fanIn(embed_dim)),
      ...(bias ? [parameter('out_proj.bias', [embed_dim], ZEROS)] : []),
    ],
    infer: ([query, key = query, value = key], { embed_dim, batch_first }) => {
      for (const input of [query!, key!, value!]) {
        requireFloat(input, 'MultiHeadAttention');
        requireRank(input, batch_first ? SEQUENCES : ['positions', 'batch', 'features'], 'MultiHeadAttention');
        if (input.shape[2] !== embed_dim) {
          throw mismatch(
            `was expecting embedding dimension of ${embed_dim}, but got ${input.shape[2]} in ${showShape(input.shape)}`,
          );
        }
      }
      if (showShape(key!.shape) !== showShape(value!.shape)) {
        throw mismatch(`key shape ${showShape(key!.shape)} does not match value shape ${showShape(value!.shape)}`);
      }
      const [batchAt, lengthAt] = batch_first ? [0, 1] : [1, 0];
      const batch = query!.shape[batchAt]!;
      if (key!.shape[batchAt] !== batch) {
        throw mismatch(`query and key must have the same batch size, got ${batch} and ${key!.shape[batchAt]}`);
      }
      return [
        { shape: query!.shape, dtype: query!.dtype },
        { shape: [batch, query!.shape[lengthAt]!, key!.shape[lengthAt]!], dtype: query!.dtype },
      ];
    },
  },
);

export const LINEAR_LAYERS = { Linear, Embedding, MultiHeadAttention };

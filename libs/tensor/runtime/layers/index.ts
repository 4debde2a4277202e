import { RuntimeError } from '../errors';
import { invalid, unsupported } from '../fields';
import type { LayerDef } from '../layer-def';
import { nearMatches } from '../near';
import { LINEAR_LAYERS } from './linear';
import { NORM_LAYERS } from './norm';
import { ACTIVATION_LAYERS, MERGE_LAYERS, PLAIN_LAYERS } from './plain';
import { SPATIAL_LAYERS } from './spatial';

export type { AttentionParams, EmbeddingParams, LinearParams } from './linear';
export type { BatchNormParams, LayerNormParams } from './norm';
export type { FlattenParams, ReshapeParams, SelectIndexParams } from './plain';
export type { AdaptivePoolParams, AvgPoolParams, Conv2dParams, PoolParams } from './spatial';

const TABLE = {
  ...LINEAR_LAYERS,
  ...SPATIAL_LAYERS,
  ...NORM_LAYERS,
  ...PLAIN_LAYERS,
  ...ACTIVATION_LAYERS,
  ...MERGE_LAYERS,
};
/** What `normalise` returns, by layer. */
export type LayerName = keyof typeof TABLE;
export type NormalLayer<N extends LayerName> = ReturnType<(typeof TABLE)[N]['normalise']>;

/** The vocabulary's layers. Each row is called with the parameters that its own `normalise` returned. */
export const LAYERS: Readonly<Record<string, LayerDef>> = TABLE as unknown as Readonly<Record<string, LayerDef>>;

export const MERGE_NAMES: ReadonlySet<string> = new Set(Object.keys(MERGE_LAYERS));

/** PyTorch's layers that are known by name only. */
const KNOWN_ELSEWHERE: ReadonlySet<string> = new Set(
  (
    'Conv1d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm3d SyncBatchNorm GroupNorm InstanceNorm1d InstanceNorm2d ' +
    'InstanceNorm3d LocalResponseNorm RMSNorm MaxPool1d MaxPool3d AvgPool1d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool3d AdaptiveMaxPool1d ' +
    'AdaptiveMaxPool2d LPPool2d FractionalMaxPool2d TransformerEncoder TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer ' +
    'Transformer LSTM GRU RNN LSTMCell GRUCell RNNCell Bilinear Identity EmbeddingBag Dropout1d Dropout2d Dropout3d AlphaDropout ' +
    'FeatureAlphaDropout Unflatten Unfold Fold Upsample PixelShuffle PixelUnshuffle ZeroPad2d ReflectionPad2d ReplicationPad2d ConstantPad2d ' +
    'ReLU6 RReLU CELU Hardsigmoid Hardtanh Hardshrink Softshrink Softplus Softsign Tanhshrink Threshold GLU LogSigmoid LogSoftmax Softmin ' +
    'Softmax2d CosineSimilarity MultiheadAttention'
  ).split(' '),
);

/**
 * The row of a layer.
 * @throws RuntimeError `unsupported` for a layer of PyTorch that is not there, `invalid_argument` with near matches for an unknown name
 */
export function layerDef(name: string): LayerDef {
  if (Object.hasOwn(LAYERS, name)) return LAYERS[name]!;
  const near = nearMatches(name, Object.keys(LAYERS));
  const hint = near.length ? `; did you mean ${near.join(' or ')}?` : '';
  if (KNOWN_ELSEWHERE.has(name)) throw unsupported(`layer ${name} is not available on this runtime${hint}`);
  throw invalid(`unknown layer '${name}'${hint || `; known: ${Object.keys(LAYERS).join(', ')}`}`);
}

/** Runs `body`, naming the layer in any error it throws. */
export function inLayer<T>(layer: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw error instanceof RuntimeError && !error.op
      ? new RuntimeError(error.code, error.message, { op: layer })
      : error;
  }
}

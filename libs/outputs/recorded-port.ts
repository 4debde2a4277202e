import type { GradientHealth, StepFacts } from '@cdui/protocol';

/** Characters of a text, and of a model's or a value's description, that are kept. */
export const MAX_RECORDED_TEXT = 4_000;
/** Items of a plain list that are kept. */
export const MAX_RECORDED_ITEMS = 1_024;

/**
 * What is kept of one port. Ports are the node's own, or `<port>__grad`, `__weight_grad__<param>`, `__steps__`, `__step__<i>__<key>`. The node's id
 * is that of the expanded graph.
 */
export type RecordedPort = RecordedTensor | RecordedValue;

interface Place {
  readonly node_id: string;
  readonly port: string;
}

export interface RecordedTensor extends Place {
  readonly type: 'tensor';
  readonly full_shape: readonly number[];
  readonly dtype: string;
  /** Below the run's folder. */
  readonly file: string;
  /** Its name in that file. */
  readonly tensor: string;
  /** Gradients only. */
  readonly health?: GradientHealth;
}

export type RecordedValue = Place &
  (
    | {
        readonly type: 'model';
        readonly class: string;
        readonly params: number;
        readonly trainable: number;
        readonly repr: string;
      }
    | { readonly type: 'scalar'; readonly value: number | boolean | null }
    | { readonly type: 'string'; readonly value: string; readonly length: number }
    | { readonly type: 'list'; readonly length: number; readonly repr: string; readonly values?: readonly unknown[] }
    | { readonly type: 'steps'; readonly steps: readonly StepFacts[] }
    | { readonly type: 'other'; readonly class: string; readonly repr: string }
  );

export function isRecordedTensor(port: RecordedPort): port is RecordedTensor {
  return port.type === 'tensor';
}

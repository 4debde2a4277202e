import type { NodeContext, ParamReader } from '@cdui/node-sdk';
import { param } from '@cdui/node-sdk';
import type { Precision } from '@cdui/tensor/runtime';

export const deviceParam = param.select('auto', ['auto', 'cpu', 'cuda', 'mps'], {
  description: "Where to compute; auto is the run's device, and so is one that is not there, with a warning",
  advanced: true,
});

export const precisionParam = param.select('fp32', ['fp32', 'bf16', 'fp16'], {
  description: 'Number format of the computation; one that the device lacks becomes fp32, with a warning',
  advanced: true,
});

/** The device to compute on. A graph runs on one runtime, so another one is answered with a warning. */
export function deviceOf(context: NodeContext, params: ParamReader): string {
  const wanted = params.choice('device');
  const { device } = context.runtime.facts;
  if (wanted !== 'auto' && wanted !== device.split(':')[0]) {
    context.warn({
      kind: 'device_fallback',
      code: 'device_fallback',
      detail: `${context.nodeId}: device ${wanted} is not available in this run, it computes on ${device}`,
      params: { node_id: context.nodeId, wanted, used: device },
    });
  }
  return device;
}

/** The number format to compute in; one that the runtime lacks is answered with fp32 and a warning. */
export function precisionOf(context: NodeContext, params: ParamReader): { used: Precision; requested: Precision } {
  const requested = params.choice<Precision>('precision');
  const { precisions, deviceName } = context.runtime.facts;
  if (requested === 'fp32' || precisions.has(requested)) return { used: requested, requested };
  context.warn({
    kind: 'precision_fallback',
    code: 'precision_fallback',
    detail: `${context.nodeId}: ${deviceName} does not compute in ${requested}, it computes in fp32`,
    params: { node_id: context.nodeId, requested, used: 'fp32' },
  });
  return { used: 'fp32', requested };
}

import type { Scope, TensorRef } from '@cdui/tensor/runtime';

/** The same numbers as a leaf that a backward pass gives a gradient: only uploads can be leaves. */
export async function withGradient(scope: Scope, tensor: TensorRef): Promise<TensorRef> {
  return scope.upload(await scope.read(tensor), { requiresGrad: true });
}

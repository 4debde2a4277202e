import { availableParallelism } from 'node:os';
import { ThreadTransport } from '@cdui/tensor/onnx';
import type { TensorRuntime } from '@cdui/tensor/runtime';
import { createClient } from '@cdui/tensor/runtime/client';
import type { RuntimeProvider } from '../providers';

/** Computes what is meant for graphics cards with the embedded runtime, under the card's name. */
const provider: RuntimeProvider = {
  name: 'the embedded runtime in the place of cards',
  devices: ['cuda:*'],
  open: (device) => openAs(device),
};

async function openAs(device: string): Promise<TensorRuntime> {
  const transport = new ThreadTransport({ threads: availableParallelism() });
  const hello = transport.hello.then((greeting) => ({ ...greeting, device }));
  return createClient(
    new Proxy(transport, {
      get: (target, name): unknown => {
        if (name === 'hello') return hello;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
      set: (target, name, value) => Reflect.set(target, name, value),
    }),
  );
}

export default provider;

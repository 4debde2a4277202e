import type { ModuleNode, ModuleSpec } from '@cdui/tensor/runtime';

type LayerEntry = readonly [layer: string, params?: Readonly<Record<string, unknown>>];

function chain(layers: readonly LayerEntry[]): ModuleSpec {
  const nodes: ModuleNode[] = layers.map(([layer, params = {}], index) => ({
    id: `n${index}`,
    from: [index === 0 ? { input: 'x' } : { node: `n${index - 1}` }],
    layer,
    params,
  }));
  return { inputs: ['x'], outputs: [{ port: 'y', from: { node: `n${layers.length - 1}` } }], nodes };
}

/** The network of the MNIST example: 421,642 parameters. */
export const CNN = chain([
  ['Conv2d', { in_channels: 1, out_channels: 32, kernel_size: 3, padding: 1 }],
  ['ReLU'],
  ['MaxPool2d', { kernel_size: 2 }],
  ['Conv2d', { in_channels: 32, out_channels: 64, kernel_size: 3, padding: 1 }],
  ['ReLU'],
  ['MaxPool2d', { kernel_size: 2 }],
  ['Flatten'],
  ['Linear', { in_features: 3136, out_features: 128 }],
  ['ReLU'],
  ['Linear', { in_features: 128, out_features: 10 }],
]);

export const MLP = chain([
  ['Linear', { in_features: 784, out_features: 512 }],
  ['ReLU'],
  ['Linear', { in_features: 512, out_features: 512 }],
  ['ReLU'],
  ['Linear', { in_features: 512, out_features: 10 }],
]);

/** Pre-norm blocks: x + attention(norm(x)), then x + down(gelu(up(norm(x)))). */
export function transformer(width: number, heads: number, blocks: number): ModuleSpec {
  const nodes: ModuleNode[] = [];
  let x: ModuleNode['from'][number] = { input: 'x' };
  for (let b = 0; b < blocks; b++) {
    const id = (name: string): string => `b${b}_${name}`;
    const layer = (name: string, kind: string, params: Record<string, unknown>, from: ModuleNode['from']) =>
      nodes.push({ id: id(name), layer: kind, params, from });
    layer('norm1', 'LayerNorm', { normalized_shape: width }, [x]);
    layer('attention', 'MultiHeadAttention', { embed_dim: width, num_heads: heads, batch_first: true }, [
      { node: id('norm1') },
    ]);
    layer('sum1', 'Add', {}, [x, { node: id('attention') }]);
    layer('norm2', 'LayerNorm', { normalized_shape: width }, [{ node: id('sum1') }]);
    layer('up', 'Linear', { in_features: width, out_features: 4 * width }, [{ node: id('norm2') }]);
    layer('gelu', 'GELU', {}, [{ node: id('up') }]);
    layer('down', 'Linear', { in_features: 4 * width, out_features: width }, [{ node: id('gelu') }]);
    layer('sum2', 'Add', {}, [{ node: id('sum1') }, { node: id('down') }]);
    x = { node: id('sum2') };
  }
  return { inputs: ['x'], outputs: [{ port: 'y', from: x }], nodes };
}

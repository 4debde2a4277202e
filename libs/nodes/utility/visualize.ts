import type { InputReader } from '@cdui/node-sdk';
import { defineNode, isTensor, param } from '@cdui/node-sdk';
import type { Scope } from '@cdui/tensor/runtime';
import { flattenGrid, numbersOf } from '../host-values';
import type { Plot, PlotData } from '../plot/plots';
import { heatmapPlot, histogramPlot, imagePlot, linePlot } from '../plot/plots';

type PlotType = 'line' | 'histogram' | 'heatmap' | 'image';

export const visualize = defineNode({
  name: 'Visualize',
  category: 'Utility',
  description: 'Draws numbers as a line, a histogram, a heat map or an image.',
  inputs: { data: ['ANY', 'A tensor, a number or a list of numbers'] },
  outputs: { image: ['STRING', 'A PNG picture as base64'] },
  params: {
    title: param.text('', { description: 'Written above the picture' }),
    plot_type: param.select('line', ['line', 'histogram', 'heatmap', 'image'], { description: 'Kind of picture' }),
  },
  async execute(context, inputs, params) {
    const data = await plotData(context.scope, inputs);
    const { canvas, chart } = draw(params.choice<PlotType>('plot_type'), data, params.text('title'), inputs);
    const image = canvas.toBase64();
    context.output({ output_kind: 'image', image: { format: 'png', encoding: 'base64', data: image }, port: 'image' });
    if (chart) context.output({ output_kind: 'chart', chart, port: 'image' });
    return { image };
  },
});

function draw(type: PlotType, data: PlotData, title: string, inputs: InputReader): Plot {
  switch (type) {
    case 'line':
      return linePlot(data, title);
    case 'histogram':
      return histogramPlot(data, title);
    case 'heatmap':
      return heatmapPlot(data, title);
    case 'image':
      return (
        imagePlot(data, title) ??
        inputs.reject(
          'data',
          'an image [H, W], [C, H, W] or [N, C, H, W] (or [H, W, C] with 1, 3 or 4 channels) of at least one pixel',
        )
      );
  }
}

async function plotData(scope: Scope, inputs: InputReader): Promise<PlotData> {
  const value = inputs.any('data');
  if (isTensor(value)) {
    const host = await scope.read(value);
    return { shape: value.shape, values: numbersOf(host), bytes: value.dtype === 'uint8' };
  }
  const grid = flattenGrid(value);
  if (grid === null) return inputs.reject('data', 'a tensor, a number or a list of numbers');
  return { shape: grid.shape, values: Float64Array.from(grid.values), bytes: false };
}

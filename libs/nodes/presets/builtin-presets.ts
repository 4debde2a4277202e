import type { PresetDefinition } from '@cdui/protocol';
import { builtinNodes } from '../builtin-nodes';

const trainingPipeline: PresetDefinition = {
  preset_name: 'Training Pipeline',
  category: 'Training',
  description: 'Trains a model on a standard data set: data, loss, optimizer and loop in one block.',
  tags: ['training', 'pipeline'],
  nodes: [
    { id: 'dataset', type: 'Dataset', params: { name: 'MNIST', split: 'train' } },
    { id: 'dataloader', type: 'DataLoader', params: { batch_size: 32, shuffle: true } },
    { id: 'loss', type: 'Loss', params: { type: 'CrossEntropyLoss' } },
    { id: 'optimizer', type: 'Optimizer', params: { type: 'Adam', lr: 0.001 } },
    { id: 'train_loop', type: 'TrainingLoop', params: { epochs: 5, device: 'cpu' } },
  ],
  edges: [
    { source: 'dataset', sourceHandle: 'dataset', target: 'dataloader', targetHandle: 'dataset' },
    { source: 'dataloader', sourceHandle: 'dataloader', target: 'train_loop', targetHandle: 'dataloader' },
    { source: 'loss', sourceHandle: 'loss_fn', target: 'train_loop', targetHandle: 'loss_fn' },
    { source: 'optimizer', sourceHandle: 'optimizer', target: 'train_loop', targetHandle: 'optimizer' },
  ],
  exposed_inputs: [
    { name: 'model', internal_node: 'train_loop', internal_port: 'model', description: 'The model to train' },
    {
      name: 'model_for_opt',
      internal_node: 'optimizer',
      internal_port: 'model',
      description: 'The same model, for the optimizer',
    },
  ],
  exposed_outputs: [
    { name: 'model', internal_node: 'train_loop', internal_port: 'model', description: 'The trained model' },
    { name: 'losses', internal_node: 'train_loop', internal_port: 'losses', description: 'Training loss per epoch' },
  ],
  exposed_params: [
    { internal_node: 'dataset', param_name: 'name', display_name: 'Data set', group: 'Data' },
    { internal_node: 'dataset', param_name: 'split', display_name: 'Split', group: 'Data' },
    { internal_node: 'dataloader', param_name: 'batch_size', display_name: 'Batch size', group: 'Data' },
    { internal_node: 'dataloader', param_name: 'shuffle', display_name: 'Shuffle', group: 'Data' },
    { internal_node: 'loss', param_name: 'type', display_name: 'Loss', group: 'Training' },
    { internal_node: 'optimizer', param_name: 'type', display_name: 'Optimizer', group: 'Training' },
    { internal_node: 'optimizer', param_name: 'lr', display_name: 'Learning rate', group: 'Training' },
    { internal_node: 'train_loop', param_name: 'epochs', display_name: 'Epochs', group: 'Training' },
    { internal_node: 'train_loop', param_name: 'device', display_name: 'Device', group: 'Training' },
  ],
};

const simpleCnn: PresetDefinition = {
  preset_name: 'Simple CNN Classifier',
  category: 'CNN',
  description: 'Two convolution blocks that turn one-channel images into 64 feature maps of a quarter of the size.',
  tags: ['cnn', 'vision'],
  nodes: [
    {
      id: 'conv1',
      type: 'Conv2d',
      params: { in_channels: 1, out_channels: 32, kernel_size: 3, stride: 1, padding: 1 },
    },
    { id: 'relu1', type: 'Activation', params: { function: 'relu' } },
    { id: 'pool1', type: 'MaxPool2d', params: { kernel_size: 2, stride: 2 } },
    {
      id: 'conv2',
      type: 'Conv2d',
      params: { in_channels: 32, out_channels: 64, kernel_size: 3, stride: 1, padding: 1 },
    },
    { id: 'relu2', type: 'Activation', params: { function: 'relu' } },
    { id: 'pool2', type: 'MaxPool2d', params: { kernel_size: 2, stride: 2 } },
  ],
  edges: chain(['conv1', 'relu1', 'pool1', 'conv2', 'relu2', 'pool2']),
  exposed_inputs: [
    { name: 'tensor', internal_node: 'conv1', internal_port: 'tensor', description: 'Images [N, 1, H, W]' },
  ],
  exposed_outputs: [
    { name: 'tensor', internal_node: 'pool2', internal_port: 'tensor', description: 'Features [N, 64, H/4, W/4]' },
  ],
  exposed_params: [
    { internal_node: 'conv1', param_name: 'in_channels', display_name: 'Input channels', group: 'First block' },
    { internal_node: 'conv1', param_name: 'out_channels', display_name: 'Channels', group: 'First block' },
    { internal_node: 'conv2', param_name: 'in_channels', display_name: 'Input channels', group: 'Second block' },
    { internal_node: 'conv2', param_name: 'out_channels', display_name: 'Channels', group: 'Second block' },
  ],
};

const lstmSequence: PresetDefinition = {
  preset_name: 'LSTM Sequence',
  category: 'RNN',
  description: 'An LSTM over a sequence with tanh on its output.',
  tags: ['rnn', 'sequence'],
  nodes: [
    { id: 'lstm', type: 'LSTM', params: { input_size: 128, hidden_size: 256, batch_first: true } },
    { id: 'activation', type: 'Activation', params: { function: 'tanh' } },
  ],
  edges: [{ source: 'lstm', sourceHandle: 'output', target: 'activation', targetHandle: 'tensor' }],
  exposed_inputs: [
    { name: 'tensor', internal_node: 'lstm', internal_port: 'tensor', description: 'Sequences [N, T, 128]' },
  ],
  exposed_outputs: [
    { name: 'output', internal_node: 'activation', internal_port: 'tensor', description: 'Outputs [N, T, 256]' },
    { name: 'hidden', internal_node: 'lstm', internal_port: 'hidden', description: 'Last hidden state' },
  ],
  exposed_params: [
    { internal_node: 'lstm', param_name: 'input_size', display_name: 'Input size', group: 'LSTM' },
    { internal_node: 'lstm', param_name: 'hidden_size', display_name: 'Hidden size', group: 'LSTM' },
  ],
};

const available = new Set(builtinNodes.map(({ definition }) => definition.node_name));

/** Presets that come with the program, as far as the built-in nodes go: one that needs a node of a later version waits for it. */
export const builtinPresets: readonly PresetDefinition[] = [trainingPipeline, simpleCnn, lstmSequence].filter(
  ({ nodes }) => nodes.every(({ type }) => available.has(type)),
);

function chain(ids: readonly string[]): PresetDefinition['edges'] {
  return ids.slice(1).map((target, index) => ({
    source: ids[index] as string,
    sourceHandle: 'tensor',
    target,
    targetHandle: 'tensor',
  }));
}

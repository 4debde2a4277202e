import { canonicalDevice } from './canonical-device';

describe('canonicalDevice', () => {
  const gpus = ['cpu', 'cuda:0', 'cuda:1'];

  it.each([
    ['auto', gpus, 'cpu', false],
    ['cpu', gpus, 'cpu', false],
    ['cuda', gpus, 'cuda:0', false],
    ['cuda:1', gpus, 'cuda:1', false],
    ['cuda:7', gpus, 'cuda:0', true],
    ['mps', gpus, 'cpu', true],
    ['mps', ['cpu', 'mps:0'], 'mps:0', false],
    ['cuda', ['cpu'], 'cpu', true],
    ['cuda:0', ['cpu'], 'cpu', true],
  ])('takes %s on %j for %s', (asked, offered, device, fallback) => {
    expect(canonicalDevice(asked, offered)).toEqual({ device, fallback });
  });

  it('takes the current card for a kind alone', () => {
    expect(canonicalDevice('cuda', gpus, 1)).toEqual({ device: 'cuda:1', fallback: false });
  });
});

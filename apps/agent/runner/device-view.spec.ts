import { deviceView } from './device-view';

describe('deviceView', () => {
  it('numbers the cards of a run in the order given', () => {
    expect(deviceView(['cuda:2', 'cuda:0'])).toEqual({
      device: 'cuda:0',
      visible: '2,0',
      aliases: { 'cuda:0': 'cuda:2', 'cuda:1': 'cuda:0' },
    });
  });

  it('shows no card to a run that was given none', () => {
    expect(deviceView(['cpu'])).toEqual({ device: 'cpu', visible: null, aliases: {} });
    expect(deviceView(['mps:0'])).toEqual({ device: 'mps:0', visible: null, aliases: {} });
  });
});

import { DeviceHistory } from './device-history';

const MINUTE = 60_000;
const cpu = (free: number | null) => ({
  ...{ device: 'cpu', name: 'Processor', uuid: null, total_bytes: 100, utilization: null },
  free_bytes: free,
});

describe('the history of a worker’s devices', () => {
  it('has one sample a minute, of the last hour, the oldest first', () => {
    const history = new DeviceHistory();
    for (let second = 0; second < 100 * 60; second += 10) history.record([cpu(second)], second * 1000);
    const samples = history.samples['cpu']!;
    expect(samples).toHaveLength(60);
    expect(samples[0]).toEqual({ at: 40 * MINUTE, free_bytes: 40 * 60, utilization: null });
    expect(samples.at(-1)).toEqual({ at: 99 * MINUTE, free_bytes: 99 * 60, utilization: null });
  });

  it('begins with a device when that is there, and forgets one that has been away for an hour', () => {
    const history = new DeviceHistory();
    history.record([cpu(1)], 0);
    history.record([cpu(null), { ...cpu(2), device: 'cuda:0' }], MINUTE);
    expect(history.samples).toEqual({
      cpu: [
        { at: 0, free_bytes: 1, utilization: null },
        { at: MINUTE, free_bytes: null, utilization: null },
      ],
      'cuda:0': [{ at: MINUTE, free_bytes: 2, utilization: null }],
    });
    for (let minute = 2; minute < 70; minute++) history.record([cpu(1)], minute * MINUTE);
    expect(Object.keys(history.samples)).toEqual(['cpu']);
  });

  it('goes on when the clock was set back', () => {
    const history = new DeviceHistory();
    history.record([cpu(1)], 100 * MINUTE);
    history.record([cpu(2)], 50 * MINUTE);
    expect(history.samples['cpu']).toHaveLength(2);
  });
});

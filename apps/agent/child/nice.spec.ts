import { niceSetting } from './nice';

describe('niceSetting', () => {
  it('is 5 unless it is set', () => {
    expect(niceSetting({})).toBe(5);
    expect(niceSetting({ CODEFYUI_WORKER_NICE: ' ' })).toBe(5);
    expect(niceSetting({ CODEFYUI_WORKER_NICE: '0' })).toBe(0);
  });

  it.each(['-1', '20', '1.5', 'low'])('refuses %s', (value) => {
    expect(() => niceSetting({ CODEFYUI_WORKER_NICE: value })).toThrow(
      `CODEFYUI_WORKER_NICE must be a whole number from 0 to 19, got "${value}"`,
    );
  });
});

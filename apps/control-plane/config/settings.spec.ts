import { readSettings } from './settings';

describe('readSettings', () => {
  it('has a default for every variable', () => {
    const settings = readSettings({ CODEFYUI_USER_DATA_DIR: '/srv/cdui', CODEFYUI_PORT: '  ' });
    expect(settings).toMatchObject({ host: '127.0.0.1', port: 8000, runRetentionKeepLast: 200, logLevel: 'info' });
    expect(settings.dbPath).toBe('/srv/cdui/data/codefyui.db');
    expect(Object.values(settings)).not.toContain(undefined);
  });

  it('names every bad variable at once, with its value and what it accepts', () => {
    const env = {
      CODEFYUI_PORT: '70000',
      CODEFYUI_HOST: 'a b',
      CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_CPU: '0x2',
      CODEFYUI_LOG_LEVEL: 'loud',
      CODEFYUI_DEBUG: 'perhaps',
    };
    const problems = [
      'CODEFYUI_HOST is "a b": give an address or host name, such as 127.0.0.1',
      'CODEFYUI_PORT is "70000": give a whole number from 0 to 65535',
      'CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_CPU is "0x2": give a whole number of at least 1',
      'CODEFYUI_LOG_LEVEL is "loud": give one of trace, debug, info, warn, error, fatal',
      'CODEFYUI_DEBUG is "perhaps": give true or false',
    ];
    expect(() => readSettings(env)).toThrow(
      expect.objectContaining({ code: 'invalid_settings', message: problems.join('\n'), params: { problems } }),
    );
  });

  it('reads lists without case and spaces, and a size in the unit of its name', () => {
    const settings = readSettings({
      CODEFYUI_EXTRA_ALLOWED_HOSTS: ' GPU.example.org:443, ,other ',
      CODEFYUI_RUN_LOG_MAX_MB: '2',
      CODEFYUI_RUN_RETENTION_KEEP_LAST: '-1',
    });
    expect(settings.extraAllowedHosts).toEqual(['gpu.example.org:443', 'other']);
    expect(settings.runLogMaxBytes).toBe(2 * 1024 * 1024);
    expect(settings.runRetentionKeepLast).toBe(-1);
  });
});

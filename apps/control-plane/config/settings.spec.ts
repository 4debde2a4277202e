import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from './settings';

describe('readSettings', () => {
  it('has a default for every variable', () => {
    const settings = readSettings({ CODEFYUI_USER_DATA_DIR: join(tmpdir(), 'cdui-none'), CODEFYUI_PORT: '  ' });
    expect(settings).toMatchObject({ host: '127.0.0.1', port: 8000, runRetentionKeepLast: 200, logLevel: 'info' });
    expect(settings.dbPath).toBe(join(tmpdir(), 'cdui-none/data/codefyui.db'));
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

  const problemsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
    try {
      readSettings(env);
      return [];
    } catch (error) {
      return (error as { params: { problems: string[] } }).params.problems;
    }
  };

  it('takes origins as browsers send them, and names those that are none', () => {
    expect(
      readSettings({ CODEFYUI_CORS_ORIGINS: 'http://a.example/, HTTPS://B.example:443,http://c:81' }).corsOrigins,
    ).toEqual(['http://a.example', 'https://b.example', 'http://c:81']);
    expect(
      problemsOf({ CODEFYUI_CORS_ORIGINS: 'foo,*,http://a/b,http://ok,http://*.x,null,http://u@h,http://a:99999' }),
    ).toEqual([
      'CODEFYUI_CORS_ORIGINS is "foo,*,http://a/b,http://ok,http://*.x,null,http://u@h,http://a:99999": give origins of pages, such as ' +
        'http://localhost:5173, separated by commas; not "foo", "*", "http://a/b", "http://*.x", "null", "http://u@h", "http://a:99999"',
    ]);
  });

  it('takes hosts as they come in the header, and names those that never come', () => {
    const hosts = 'Pub.example,pub.example:8443,[::1]:80,10.0.0.1';
    expect(readSettings({ CODEFYUI_EXTRA_ALLOWED_HOSTS: hosts }).extraAllowedHosts).toEqual(
      hosts.toLowerCase().split(','),
    );
    for (const bad of [
      'http://pub.example',
      'pub.example/',
      '*',
      '*.example',
      'a b',
      'pub.example:',
      'pub.example:0',
      'x:99999',
      '::1',
    ]) {
      expect(problemsOf({ CODEFYUI_EXTRA_ALLOWED_HOSTS: `ok.example,${bad}` })).toEqual([
        expect.stringMatching(
          /^CODEFYUI_EXTRA_ALLOWED_HOSTS is "ok\.example,.*": give values of the Host header.*; not "/,
        ),
      ]);
    }
  });

  describe('folders and files', () => {
    let folder: string;
    beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-settings-'))));
    afterEach(() => rmSync(folder, { recursive: true }));

    it('names every place that cannot be one, and makes nothing', () => {
      writeFileSync(join(folder, 'file'), '');
      mkdirSync(join(folder, 'folder'));
      symlinkSync('loop', join(folder, 'loop'));
      const at = (name: string): string => join(folder, name);
      expect(
        problemsOf({
          CODEFYUI_GRAPHS_DIR: at('file'),
          CODEFYUI_MODELS_DIR: at('file/below'),
          CODEFYUI_IMAGES_DIR: at('loop'),
          CODEFYUI_EXAMPLES_DIR: at('nowhere'),
          CODEFYUI_DB_PATH: at('folder'),
          CODEFYUI_PRESETS_DIR: at('not/yet/there'),
          CODEFYUI_CUSTOM_NODES_DIR: at('folder'),
        }),
      ).toEqual([
        `CODEFYUI_DB_PATH is "${at('folder')}": give the path of a file (a folder, a pipe or a device is there)`,
        `CODEFYUI_GRAPHS_DIR is "${at('file')}": give a folder (a file is there)`,
        `CODEFYUI_MODELS_DIR is "${at('file/below')}": give a folder (a file is in its way: ${at('file')})`,
        `CODEFYUI_IMAGES_DIR is "${at('loop')}": give a folder (it cannot be reached: links lead in a circle)`,
        `CODEFYUI_EXAMPLES_DIR is "${at('nowhere')}": give a folder that exists (nothing is there)`,
      ]);
      expect(readdirSync(folder).sort()).toEqual(['file', 'folder', 'loop']);
    });

    it('finds what is in the way of a default as well', () => {
      mkdirSync(join(folder, 'data'));
      writeFileSync(join(folder, 'data', 'graphs'), '');
      expect(problemsOf({ CODEFYUI_USER_DATA_DIR: folder })).toEqual([
        `CODEFYUI_GRAPHS_DIR is "${join(folder, 'data/graphs')}": give a folder (a file is there)`,
      ]);
    });

    (process.platform === 'linux' ? it : it.skip)('knows where the system lets nothing be made', () => {
      expect(problemsOf({ CODEFYUI_MODELS_DIR: '/proc/x/y', CODEFYUI_DB_PATH: '/proc/x.db' })).toEqual([
        'CODEFYUI_DB_PATH is "/proc/x.db": give the path of a file (the system does not let anything be made in /proc)',
        'CODEFYUI_MODELS_DIR is "/proc/x/y": give a folder (the system does not let anything be made in /proc)',
      ]);
    });
  });

  it('does not ignore a place for logs that it does not have', () => {
    expect(problemsOf({ CODEFYUI_LOG_DIR: '/var/log' })).toEqual([
      expect.stringMatching(/^CODEFYUI_LOG_DIR is "\/var\/log", and there is no such setting: .*server\.log/),
    ]);
  });
});

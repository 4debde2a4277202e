import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import { readSettings } from './config/settings';
import { type RunningServer, startServer } from './server';

/** Makes an SQLite file whose schema is of a version to come. */
const NEWER =
  'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("pragma user_version = 9999"); c.close()';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describe('the control plane', () => {
  let server: RunningServer;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-server-'));
    mkdirSync(join(folder, 'data', 'custom_nodes'), { recursive: true });
    writeFileSync(join(folder, 'data', 'custom_nodes', 'broken.js'), 'module.exports = (');
    server = await startServer(readSettings({ CODEFYUI_PORT: '0', CODEFYUI_USER_DATA_DIR: folder }));
  });

  afterAll(async () => {
    await server.app.close();
    rmSync(folder, { recursive: true });
  });

  const get = (path: string, host?: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      request(`${server.url}${path}`, host === undefined ? {} : { headers: { host } }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) as Answer['body'] }));
      })
        .on('error', reject)
        .end();
    });

  it('reports health with the number of nodes and presets', async () => {
    const { status, body } = await get('/api/health');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string });
    expect(body['nodes_loaded']).toBeGreaterThan(30);
    expect(body['presets_loaded']).toBeGreaterThan(0);
  });

  it('serves each node definition, whatever lies broken in the custom-node folder', async () => {
    const list = (await get('/api/nodes')).body as unknown as { node_name: string }[];
    expect(list.map((definition) => definition.node_name)).toContain('TrainingLoop');
    expect((await get('/api/nodes/Conv2d')).body).toEqual(list.find((definition) => definition.node_name === 'Conv2d'));
  });

  it('serves presets', async () => {
    expect((await get('/api/presets/Training%20Pipeline')).body).toMatchObject({ preset_name: 'Training Pipeline' });
  });

  it.each(['/api/nodes/NoSuchNode', '/api/presets/none', '/api/nowhere', '/'])(
    'answers %s with a coded 404',
    async (path) => {
      const { status, body } = await get(path);
      expect(status).toBe(404);
      expect(body).toEqual({
        detail: {
          code: expect.stringMatching(/not_found$/) as string,
          message: expect.any(String) as string,
          details: expect.any(Object) as object,
        },
      });
    },
  );

  it('does not answer for a host that is not its own', async () => {
    expect(await get('/api/health', 'evil.example')).toMatchObject({
      status: 421,
      body: { detail: expect.stringContaining('evil.example') as string },
    });
  });
});

describe('its program', () => {
  it.each([
    ['--help', 0, 'stdout'],
    ['--prot', 2, 'stderr'],
  ] as const)('given %s says how it is used and ends with %d', (argument, status, stream) => {
    const ended = spawnSync(process.execPath, [entryPath('apps/control-plane/main'), argument], { encoding: 'utf8' });
    expect(ended.status).toBe(status);
    expect(ended[stream]).toContain('CODEFYUI_PORT');
  });

  it.each<[string, (database: string) => void, RegExp]>([
    [
      'is none of ours',
      (file) => writeFileSync(file, 'x'.repeat(9000)),
      /^\S+ is not a database of this program: .*\n$/,
    ],
    [
      'comes from a newer version',
      (file) => execFileSync('python3', ['-c', NEWER, file]),
      /^The database \S+ was written by a newer version .*\n$/,
    ],
    ['is a folder', (file) => mkdirSync(file), /^.*codefyui\.db.*\n$/],
  ])('ends with 1 and one sentence when its database %s', (_, make, sentence) => {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-refused-'));
    try {
      mkdirSync(join(folder, 'data'));
      make(join(folder, 'data', 'codefyui.db'));
      const env = { ...process.env, CODEFYUI_USER_DATA_DIR: folder, CODEFYUI_PORT: '0' };
      const program = entryPath('apps/control-plane/main');
      const ended = spawnSync(process.execPath, [program], { encoding: 'utf8', env, timeout: 45_000 });
      expect(ended).toMatchObject({ status: 1, stdout: '' });
      expect(ended.stderr).toMatch(sentence);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Answer, TestServer } from '../testing/test-server';

const graph = {
  name: 'mine',
  nodes: [{ id: 'a', type: 'Start', data: { params: {} } }],
  edges: [],
  extra: { kept: true },
};

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ CODEFYUI_EXAMPLES_DIR: '{folder}/examples' }, (folder) => {
    const examples = join(folder, 'examples');
    mkdirSync(join(examples, 'more'), { recursive: true });
    writeFileSync(join(examples, 'a.graph.json'), JSON.stringify(graph));
    writeFileSync(join(examples, 'more', 'b.graph.json'), JSON.stringify({ nodes: [], edges: [] }));
    writeFileSync(join(examples, 'broken.graph.json'), '{');
    writeFileSync(join(folder, 'outside.graph.json'), '{"secret": "outside"}');
    symlinkSync(join(folder, 'outside.graph.json'), join(examples, 'link.graph.json'));
  });
});
afterAll(() => server.close());

const codeOf = ({ json }: Answer): unknown => {
  const { detail } = json as { detail: { code?: string } | { type: string }[] };
  return Array.isArray(detail) ? detail[0]!.type : detail.code;
};

describe('saved graphs', () => {
  it('come back as they were saved, under their name', async () => {
    const saved = await server.post('/api/graph/save', { graph, name: 'First try ä' });
    expect(saved).toMatchObject({
      status: 200,
      json: {
        name: 'First try ä',
        file: 'First_try_ä.json',
        path: join(server.folder, 'data/graphs/First_try_ä.json'),
      },
    });
    expect((await server.get(`/api/graph/load/${encodeURIComponent('First try ä')}`)).json).toEqual({
      ...graph,
      name: 'First try ä',
    });
    expect((await server.get('/api/graph/list')).json).toEqual([
      {
        name: 'First try ä',
        file: 'First_try_ä.json',
        modified: expect.stringMatching(/Z$/) as string,
        problem: null,
      },
    ]);
  });

  it('explain themselves when another name has the same file', async () => {
    await server.post('/api/graph/save', { graph, name: '日本 ?' });
    const { status, json } = await server.post('/api/graph/save', { graph, name: '日本 !' });
    expect([status, (json as { detail: { message: string } }).detail.message]).toEqual([
      409,
      'There is a graph in 日本__.json (in files, all but letters, digits, _ and - becomes _) already: choose another name, or overwrite it',
    ]);
    await server.send('DELETE', `/api/graph/${encodeURIComponent('日本 ?')}`);
  });

  it('keep the letters of every script apart', async () => {
    const names = ['日本語', '中国語', 'मराठी', 'Ελληνικά', '𠮷'.repeat(128), `${'𠮷'.repeat(127)}野`];
    for (const name of names) {
      expect([name, (await server.post('/api/graph/save', { graph, name })).status]).toEqual([name, 200]);
    }
    for (const name of names) {
      const path = `/api/graph/load/${encodeURIComponent(name)}`;
      expect((await server.get(path)).json).toMatchObject({ name });
      await server.send('DELETE', `/api/graph/${encodeURIComponent(name)}`);
    }
    const tooLong = await server.post('/api/graph/save', { graph, name: '𠮷'.repeat(129) });
    expect([tooLong.status, codeOf(tooLong)]).toEqual([400, 'invalid_name']);
  });

  it('may be sent as the whole body, with their own name', async () => {
    expect((await server.post('/api/graph/save', { ...graph, name: 'whole' })).json).toMatchObject({ name: 'whole' });
  });

  it('take the place of another one only when asked to', async () => {
    await server.post('/api/graph/save', { graph, name: 'place' });
    const again = await server.post('/api/graph/save', { graph: { nodes: [], edges: [] }, name: 'place' });
    expect([again.status, codeOf(again)]).toEqual([409, 'graph_exists']);
    expect((await server.get('/api/graph/load/place')).json).toMatchObject({ nodes: graph.nodes });
    const asked = await server.post('/api/graph/save', { graph: { nodes: [] }, name: 'place', overwrite: true });
    expect(asked.status).toBe(200);
    expect((await server.get('/api/graph/load/place')).json).toMatchObject({ nodes: [] });
  });

  it('are given a name by one of many who ask at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.post('/api/graph/save', { graph, name: 'contested' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    expect(readdirSync(join(server.folder, 'data/graphs')).filter((file) => file.includes('draft'))).toEqual([]);
  });

  it('have no secrets in their files', async () => {
    const node = { id: 'x', type: 'SomeRemoteModel', data: { params: { api_key: 'canary-secret', size: 3 } } };
    await server.post('/api/graph/save', { graph: { nodes: [node], edges: [] }, name: 'secret' });
    const text = readFileSync(join(server.folder, 'data/graphs/secret.json'), 'utf8');
    expect(text).not.toContain('canary-secret');
    expect(text).toContain('"size": 3');
  });

  it('are renamed and deleted', async () => {
    await server.post('/api/graph/save', { graph, name: 'old' });
    await server.post('/api/graph/save', { graph, name: 'taken' });
    expect((await server.post('/api/graph/rename', { from: 'old', to: 'taken' })).status).toBe(409);
    expect((await server.post('/api/graph/rename', { from: 'old', to: 'new' })).status).toBe(200);
    expect((await server.get('/api/graph/load/old')).status).toBe(404);
    expect((await server.get('/api/graph/load/new')).json).toMatchObject({ name: 'new' });
    expect((await server.post('/api/graph/rename', { from: 'new', to: 'NEW!' })).status).toBe(200);
    expect((await server.send('DELETE', '/api/graph/NEW!')).json).toEqual({ name: 'NEW!', deleted: true });
    const gone = await server.send('DELETE', '/api/graph/NEW!');
    expect([gone.status, codeOf(gone)]).toEqual([404, 'graph_not_found']);
  });

  it.each(['../x', '..', '.', 'a/b', 'a\\b', 'a\0b', '\ud800', 'a\udc00b', '', '  ', 'x'.repeat(129)])(
    'cannot be called %j',
    async (name) => {
      const saved = await server.post('/api/graph/save', { graph, name });
      expect([saved.status, codeOf(saved)]).toEqual([400, 'invalid_name']);
      const renamed = await server.post('/api/graph/rename', { from: name, to: 'x' });
      expect(renamed.status).toBe(400);
      // Halves of a character cannot be in an address.
      if (name !== '' && !/\p{Cs}/u.test(name)) {
        expect((await server.get(`/api/graph/load/${encodeURIComponent(name)}`)).status).toBe(400);
        expect((await server.send('DELETE', `/api/graph/${encodeURIComponent(name)}`)).status).toBe(400);
      }
      expect(existsSync(join(server.folder, 'data/x.json'))).toBe(false);
    },
  );

  it.each([
    [{}, 'graph'],
    [{ graph: [] }, 'graph'],
    [{ graph: { nodes: {} }, name: 'x' }, 'graph.nodes'],
    [{ graph, name: 5 }, 'name'],
    [{ graph: { nodes: [] } }, 'name'],
    [{ graph, overwrite: 'yes' }, 'overwrite'],
    [null, ''],
  ])('are refused as %j, which names "%s"', async (body, field) => {
    const answer = await server.post('/api/graph/save', body);
    expect([answer.status, codeOf(answer)]).toEqual([422, 'invalid_body']);
    expect((answer.json as { detail: { loc: string[] }[] }).detail[0]!.loc).toEqual(
      ['body', ...field.split('.')].filter((part) => part !== ''),
    );
  });
});

describe('a folder of graphs into which people put things by hand', () => {
  const folder = (): string => join(server.folder, 'data/graphs');
  const load = (name: string): Promise<Answer> => server.get(`/api/graph/load/${encodeURIComponent(name)}`);
  const list = async (): Promise<readonly { name: string; file: string; problem: string | null }[]> =>
    (await server.get('/api/graph/list')).json as { name: string; file: string; problem: string | null }[];
  beforeEach(() => {
    rmSync(folder(), { recursive: true, force: true });
    mkdirSync(folder(), { recursive: true });
  });
  const put = (file: string, content: unknown): void =>
    writeFileSync(join(folder(), file), typeof content === 'string' ? content : JSON.stringify(content));

  it('lists every file under a name that leads to it, and to it alone', async () => {
    put('with space.json', { nodes: [], edges: [] });
    put('dots.and.more.json', { nodes: [], edges: [] });
    // As it was called before names kept their letters.
    put('First_try__.json', { name: 'First try ä', nodes: [] });
    put('other.json', { nodes: [], edges: [], name: 'Mine' });
    put('taken.json', { name: 'Taken', nodes: [] });
    put('Taken.json', { name: 'taken', nodes: [] });
    put('path.json', { name: '../../etc/passwd', nodes: [] });
    copyFileSync(join(folder(), 'other.json'), join(folder(), 'other (copy).json'));
    put('broken.json', '{"name": "cut off');
    const graphs = await list();
    expect(graphs.map(({ file }) => file).sort()).toEqual(readdirSync(folder()).sort());
    expect(new Set(graphs.map(({ name }) => name)).size).toBe(graphs.length);
    expect(graphs.filter(({ problem }) => problem !== null)).toMatchObject([
      { name: 'broken', file: 'broken.json', problem: 'It holds no JSON object' },
    ]);
    for (const { name, file, problem } of graphs) {
      const loaded = await load(name);
      expect([name, loaded.status]).toEqual([name, problem === null ? 200 : 400]);
      if (problem === null) expect(loaded.json).toEqual(JSON.parse(readFileSync(join(folder(), file), 'utf8')));
    }
    expect((await server.post('/api/graph/rename', { from: 'with space', to: 'without' })).status).toBe(200);
    expect(existsSync(join(folder(), 'with space.json'))).toBe(false);
    for (const { name } of await list()) {
      expect([name, (await server.send('DELETE', `/api/graph/${encodeURIComponent(name)}`)).status]).toEqual([
        name,
        200,
      ]);
    }
    expect(readdirSync(folder())).toEqual([]);
  });

  it('keeps the file of a graph that is saved again, whatever it is called', async () => {
    put('First_try__.json', { name: 'First try ä', nodes: [] });
    expect((await server.post('/api/graph/save', { graph, name: 'First try ä' })).status).toBe(409);
    const saved = await server.post('/api/graph/save', { graph, name: 'First try ä', overwrite: true });
    expect(saved).toMatchObject({ status: 200, json: { file: 'First_try__.json' } });
    expect(readdirSync(folder())).toEqual(['First_try__.json']);
  });

  it.each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
    ['a link to a file outside', (path: string) => symlinkSync(join(server.folder, 'outside.graph.json'), path)],
    ['a link to itself', (path: string) => symlinkSync('odd.json', path)],
    ['a link to nothing', (path: string) => symlinkSync('nothing.json', path)],
  ])('does not take %s for a graph', async (_what, make) => {
    make(join(folder(), 'odd.json'));
    put('ö.json', graph);
    expect(await list()).toMatchObject([{ file: 'ö.json' }]);
    const answers = [
      // More of them than there are threads that read files.
      ...Array.from({ length: 6 }, () => load('odd')),
      server.post('/api/graph/rename', { from: 'odd', to: 'even' }),
      server.send('DELETE', '/api/graph/odd'),
    ];
    for (const answer of await Promise.all(answers)) {
      expect([answer.status, codeOf(answer)]).toEqual([404, 'graph_not_found']);
      expect(answer.text).toContain('no plain file');
    }
    expect(readdirSync(folder())).toContain('odd.json');
    const saved = await server.post('/api/graph/save', { graph, name: 'odd' });
    expect([saved.status, codeOf(saved)]).toEqual([409, 'graph_exists']);
  });

  it('says so when the folder is none', async () => {
    rmSync(folder(), { recursive: true });
    writeFileSync(folder(), '');
    for (const answer of [await server.get('/api/graph/list'), await load('x')]) {
      expect([answer.status, codeOf(answer)]).toEqual([503, 'storage_failed']);
    }
    rmSync(folder());
  });
});

it('checks a graph and answers what is wrong with it', async () => {
  const bad = { nodes: [{ id: 'a', type: 'NoSuchNode' }], edges: [] };
  for (const body of [bad, { graph: bad }]) {
    expect(await server.post('/api/graph/validate', body)).toMatchObject({
      status: 200,
      json: {
        valid: false,
        issues: expect.arrayContaining([expect.objectContaining({ code: 'unknown_node_type' })]) as unknown,
      },
    });
  }
});

describe('examples', () => {
  it('are listed with what is in them, broken ones left out', async () => {
    expect((await server.get('/api/examples/list')).json).toEqual([
      {
        name: 'mine',
        description: '',
        category: '',
        path: 'a.graph.json',
        source: 'builtin',
        node_count: 1,
        edge_count: 0,
      },
      {
        name: 'b',
        description: '',
        category: 'more',
        path: 'more/b.graph.json',
        source: 'builtin',
        node_count: 0,
        edge_count: 0,
      },
    ]);
  });

  it('are loaded by path, from their folder only', async () => {
    expect((await server.get('/api/examples/load?path=a.graph.json')).json).toEqual(graph);
    const outside = join(server.folder, 'outside.graph.json');
    for (const path of [
      '../outside.graph.json',
      outside,
      'link.graph.json',
      'a',
      'a.graph.json\0',
      '/etc/passwd',
      '.',
    ]) {
      const answer = await server.get(`/api/examples/load?path=${encodeURIComponent(path)}`);
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 404, 'example_not_found']);
    }
    expect((await server.get('/api/examples/load')).status).toBe(422);
    expect((await server.get('/api/examples/load?path=a&path=b')).status).toBe(422);
  });
});

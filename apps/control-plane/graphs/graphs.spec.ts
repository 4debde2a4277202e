import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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
        file: 'First_try__.json',
        path: join(server.folder, 'data/graphs/First_try__.json'),
      },
    });
    expect((await server.get(`/api/graph/load/${encodeURIComponent('First try ä')}`)).json).toEqual({
      ...graph,
      name: 'First try ä',
    });
    expect((await server.get('/api/graph/list')).json).toEqual([
      { name: 'First try ä', file: 'First_try__.json', modified: expect.stringMatching(/Z$/) as string },
    ]);
  });

  it('explain themselves when another name has the same file', async () => {
    await server.post('/api/graph/save', { graph, name: '日本' });
    const { status, json } = await server.post('/api/graph/save', { graph, name: '中国' });
    expect([status, (json as { detail: { message: string } }).detail.message]).toEqual([
      409,
      'There is a graph in __.json (in files, all but A-Z, a-z, 0-9, _ and - becomes _) already: choose another name, or overwrite it',
    ]);
    await server.send('DELETE', `/api/graph/${encodeURIComponent('日本')}`);
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

  it.each(['../x', '..', '.', 'a/b', 'a\\b', 'a\0b', '', '  ', 'x'.repeat(129)])(
    'cannot be called %j',
    async (name) => {
      const saved = await server.post('/api/graph/save', { graph, name });
      expect([saved.status, codeOf(saved)]).toEqual([400, 'invalid_name']);
      const renamed = await server.post('/api/graph/rename', { from: name, to: 'x' });
      expect(renamed.status).toBe(400);
      if (name !== '') {
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

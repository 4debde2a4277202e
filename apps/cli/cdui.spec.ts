import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-cli-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the bundled program as a person would. */
function cdui(...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, CODEFYUI_USER_DATA_DIR: folder, NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, [entryPath('apps/cli/main'), ...args], { env, cwd: folder }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const trigger = (target: string) => ({ source: 's', sourceHandle: 'trigger', target, type: 'trigger' });
const start = { id: 's', type: 'Start' };
const greeting = {
  name: 'Greeting',
  nodes: [
    start,
    { id: 't', type: 'TextInput', data: { params: { value: 'hello there' } } },
    { id: 'p', type: 'Print' },
  ],
  edges: [trigger('t'), { source: 't', sourceHandle: 'text', target: 'p', targetHandle: 'value' }],
};

describe('arguments', () => {
  it('--help and --version go to standard output and end with 0', async () => {
    const [help, version] = await Promise.all([cdui('--help'), cdui('--version')]);
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain('Usage: cdui');
    expect(version).toMatchObject({ code: 0, err: '' });
    expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([[[]], [['nonsense']], [['graph']], [['graph', 'nonsense']]])(
    '%j is no command: help, and 1',
    async (args) => {
      const { code, out, err } = await cdui(...args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain('Usage: cdui');
    },
  );

  it.each([
    [['--nonsense'], '--nonsense'],
    [['graph', 'run'], 'file'],
    [['graph', 'run', 'a.json', 'b.json'], 'too many arguments'],
    [['graph', 'run', 'a.json', '--nonsense'], '--nonsense'],
    [['graph', 'run', 'a.json', '--device', 'tpu'], 'cuda:N'],
    [['graph', 'run', 'a.json', '--seed', 'x'], '4294967295'],
    [['graph', 'run', 'a.json', '--error-mode', 'hope'], 'fail_fast'],
    [['graph', 'run', 'a.json', '--max-retries', '11'], '10'],
  ])('%j is a mistake: what is wrong, and 2', async (args, word) => {
    const { code, out, err } = await cdui(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(word);
  });

  it.each([
    [['--json'], 2, 'unknown_option'],
    [['--json', 'runs', 'list'], 2, 'unknown_option'],
    [['runs', '--json'], 2, 'unknown_option'],
    [['nonsense', '--json'], 1, 'unknown_command'],
    [['runs', 'list', '--nonsense', '--json'], 2, 'unknown_option'],
    [['runs', 'list', '--json', '-n', 'x'], 2, 'invalid_argument'],
    [['graphs', 'save', '--json'], 2, 'missing_argument'],
    [['graph', 'run', 'a', 'b', '--json'], 2, 'excess_arguments'],
    [['runs', 'metrics', 'last', '--csv', '--json'], 2, 'conflicting_option'],
    [['run', 'a.json', '--port', '0', '--json'], 2, 'invalid_argument'],
    [['completion', 'bash', '--json'], 2, 'unknown_option'],
  ])('%j is a mistake that is told as JSON as well', async (args, status, code) => {
    const { code: ended, out, err } = await cdui(...args);
    expect(ended).toBe(status);
    const { error } = JSON.parse(out) as { error: { code: string; message: string; details: unknown } };
    expect(error).toEqual({ code, message: expect.stringMatching(/^(?!error)\S.*\S$/) as string, details: {} });
    expect(err).toContain(error.message);
  });

  it.each([
    [['help'], 'Usage: cdui [options]'],
    [['help', 'runs'], 'Usage: cdui runs [options]'],
    [['help', 'runs', 'list'], 'Usage: cdui runs list'],
  ])('%j shows that help', async (args, usage) => {
    expect((await cdui(...args)).out).toContain(usage);
  });
});

describe('graph run', () => {
  it('refuses a file that is not there or is no graph', async () => {
    const [missing, broken] = await Promise.all([
      cdui('graph', 'run', 'gone.json'),
      cdui('graph', 'run', file('b.json', '{')),
    ]);
    expect(missing).toMatchObject({ code: 1, out: expect.stringContaining('there is no such file') });
    expect(broken).toMatchObject({ code: 1, out: expect.stringContaining('not valid JSON') });
  });

  it('lists the problems of a graph by number and runs nothing', async () => {
    const bad = file('bad.json', {
      nodes: [start, { id: 'a', type: 'Nope' }, { id: 'b', type: 'Print' }],
      edges: [trigger('a'), trigger('b')],
    });
    const { code, out } = await cdui('graph', 'run', bad);
    expect(code).toBe(1);
    expect(out).toMatch(/2 problems:\n {2}1\. .*"a".*\n {2}2\. .*"b".*\n/);
    expect(out).not.toContain('running');
  });

  it('--validate-only says OK and runs nothing', async () => {
    const { code, out } = await cdui('graph', 'run', file('g.json', greeting), '--validate-only');
    expect(code).toBe(0);
    expect(out).toContain('Greeting');
    expect(out).toContain('3 nodes, 2 edges');
    expect(out).toContain('validation OK');
    expect(out).not.toContain('running');
  });

  it('--json says it in one document', async () => {
    const good = await cdui('graph', 'run', file('g.json', greeting), '--validate-only', '--json');
    expect(good.code).toBe(0);
    expect(JSON.parse(good.out)).toMatchObject({ status: 'valid', name: 'Greeting', issues: [] });
    const bad = await cdui('graph', 'run', file('bad.json', { nodes: [], edges: [] }), '--json');
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ status: 'invalid', issues: [{ code: 'no_entry_points' }] });
  });

  it('runs the graph and ends with what came out', async () => {
    const { code, out } = await cdui('graph', 'run', file('g.json', greeting));
    expect(code).toBe(0);
    expect(out).toMatch(/\[t\] running\n(.*\n)*\[t\] completed -> text: "hello there"\n(.*\n)*\[p\] running\n/);
    expect(out).toMatch(/succeeded in [\d.]+ s\nFinal Outputs\n {2}p\.value = "hello there"\n$/);
  });

  it('runs it and says so in one JSON document, with nothing else beside it', async () => {
    const { code, out, err } = await cdui('graph', 'run', file('g.json', greeting), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      status: 'succeeded',
      error: null,
      outputs: { 'p.value': { type: 'string', value: 'hello there' } },
      failed_nodes: [],
    });
    expect(err).toContain('hello there');
  });

  it('ends with 1 when a node fails, and names it; --error-mode continue runs the rest', async () => {
    customNode('Fail', 'throw new Error("no luck");');
    const graph = {
      ...greeting,
      nodes: [...greeting.nodes, { id: 'bad', type: 'Fail' }, { id: 'after', type: 'Print' }],
      edges: [
        trigger('bad'),
        ...greeting.edges,
        { source: 'bad', sourceHandle: 'out', target: 'after', targetHandle: 'value' },
      ],
    };
    const [fast, patient] = await Promise.all([
      cdui('graph', 'run', file('f.json', graph)),
      cdui('graph', 'run', file('f.json', graph), '--error-mode', 'continue', '--json'),
    ]);
    expect(fast.code).toBe(1);
    expect(fast.out).toContain('[bad] ERROR: no luck');
    expect(fast.out).toContain('failed in');
    expect(patient.code).toBe(1);
    expect(JSON.parse(patient.out)).toMatchObject({
      status: 'failed',
      failed_nodes: ['bad'],
      skipped_nodes: ['after'],
      outputs: { 'p.value': { value: 'hello there' } },
    });
  });

  it('gives the same result for the same seed', async () => {
    customNode('Dice', 'return { out: context.seed };');
    const graph = file('d.json', { nodes: [start, { id: 'd', type: 'Dice' }], edges: [trigger('d')] });
    const roll = async (seed: string) =>
      JSON.parse((await cdui('graph', 'run', graph, '--json', '--seed', seed)).out).outputs;
    const [one, again, other] = await Promise.all([roll('1'), roll('1'), roll('2')]);
    expect(one).toEqual(again);
    expect(one).not.toEqual(other);
  });

  it('keeps what it makes below the folder it was given', async () => {
    await cdui('graph', 'run', file('g.json', greeting), '--data-dir', join(folder, 'elsewhere'));
    expect(existsSync(join(folder, 'elsewhere', 'data', 'models'))).toBe(true);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });
});

it('says which folder cannot be made, and how to name another', async () => {
  const path = file('taken', 'a file');
  const { code, out } = await cdui('graph', 'run', file('g.json', greeting), '--data-dir', path);
  expect(code).toBe(1);
  expect(out).toMatch(/cannot make the folder .*taken.*: a file is in its way; name another with --data-dir/);
  expect(out).not.toContain('running');
});

it('ends quietly when its reader does: `cdui graph run FILE | head`', async () => {
  customNode('Chatter', 'for (;;) { context.log("word"); await new Promise((go) => setTimeout(go)); }');
  const graph = file('c.json', { nodes: [start, { id: 'c', type: 'Chatter' }], edges: [trigger('c')] });
  const child = spawn(process.execPath, [entryPath('apps/cli/main'), 'graph', 'run', graph], {
    env: { ...process.env, CODEFYUI_USER_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  child.stdout.once('data', () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, err }).toEqual({ code: 141, err: '' });
});

describe('Ctrl+C', () => {
  /** Runs a graph of one custom node, and presses Ctrl+C once that node has said that it is under way, and again for each such word. */
  function interrupted(body: string, words: readonly string[]): Promise<{ code: number | null; out: string }> {
    customNode('Busy', body);
    const graph = file('busy.json', { nodes: [start, { id: 'b', type: 'Busy' }], edges: [trigger('b')] });
    const child = spawn(process.execPath, [entryPath('apps/cli/main'), 'graph', 'run', graph], {
      env: { ...process.env, CODEFYUI_USER_DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    let pressed = 0;
    child.stdout.on('data', (text) => {
      out += String(text);
      while (pressed < words.length && out.includes(words[pressed] as string)) {
        pressed += 1;
        child.kill('SIGINT');
      }
    });
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
  }

  it('asks the run to stop: 130', async () => {
    const body =
      'context.log("under way"); return new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));';
    const { code, out } = await interrupted(body, ['under way']);
    expect(out).toMatch(/stopping: .*\n(.*\n)*cancelled in/);
    expect(code).toBe(130);
  });

  it('ends a run that does not listen at the second press: 130, and no word of an end', async () => {
    const body = 'context.log("under way"); await new Promise((go) => setImmediate(go)); for (;;);';
    const { code, out } = await interrupted(body, ['under way', 'stopping']);
    expect(code).toBe(130);
    expect(out).not.toContain('cancelled in');
    expect(out).not.toContain('failed in');
  });
});

/** Puts a node type into the folder of custom nodes; its output is `out`. */
function customNode(name: string, body: string): void {
  const nodes = join(folder, 'data', 'custom_nodes');
  mkdirSync(nodes, { recursive: true });
  writeFileSync(
    join(nodes, `${name}.js`),
    `module.exports = (sdk) => sdk.defineNode({ name: '${name}', category: 'Mine', description: '', outputs: { out: 'ANY' }, async execute(context) { ${body} } });`,
  );
}

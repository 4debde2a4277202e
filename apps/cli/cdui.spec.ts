import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
});

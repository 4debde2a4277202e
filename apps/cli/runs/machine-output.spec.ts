import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, Workplace } from '../testing/cdui';

let place: Workplace;
beforeAll(async () => {
  place = new Workplace();
  mkdirSync(join(place.data, 'data', 'custom_nodes'), { recursive: true });
  writeFileSync(
    join(place.data, 'data', 'custom_nodes', 'talk.js'),
    `module.exports = () => ({ name: 'Talk', category: 'Mine', description: '', async execute(context) {
      console.log('one');
      console.log('zwei ü');
      return {};
    } });`,
  );
  await place.cdui('start');
  const graph = {
    name: 'Talks',
    nodes: [
      { id: 's', type: 'Start' },
      { id: 't', type: 'Talk' },
    ],
    edges: [{ source: 's', sourceHandle: 'trigger', target: 't', type: 'trigger' }],
  };
  expect((await place.cdui('run', place.file('g.json', graph))).code).toBe(0);
  expect((await place.cdui('graphs', 'save', place.file('g.json', graph))).code).toBe(0);
});
afterAll(() => place.remove());

const failure = ({ out }: Ended): { code: string; message: string } =>
  (JSON.parse(out) as { error: { code: string; message: string } }).error;

it.each([[[]], [['-f']]])('cdui runs logs --json %j prints one JSON document a line', async (more) => {
  const { code, out } = await place.cdui('runs', 'logs', 'last', '--json', ...more);
  expect(code).toBe(0);
  const lines = out.trimEnd().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as { offset: number; text: string });
  const [one, two] = parsed.filter(({ text }) => /^(one|zwei ü)$/.test(text));
  expect(one?.text).toBe('one');
  expect(two).toEqual({ offset: one!.offset + 4, text: 'zwei ü' });
});

describe('what cannot be written is said in one sentence', () => {
  it.each([
    [['runs', 'artifacts', 'last', '--download', 'FILE'], 'folder_not_made', 'a file is in its way'],
    [['graphs', 'load', 'Talks', '-o', 'nowhere/x.json'], 'file_not_written', 'the folder for it is not there'],
    [['graphs', 'load', 'Talks', '-o', '.', '--force'], 'file_not_written', 'a folder is in its way'],
    [['db', 'backup', 'nowhere/x.db'], 'backup_failed', 'make it first'],
    [['db', 'backup', ''], 'backup_failed', 'The name of the file is empty'],
    [['db', 'backup', '.', '--force'], 'backup_failed', 'is a folder: name a file in it'],
  ])('%j', async (args, code, words) => {
    const file = place.file('plain', 'a file');
    const given = args.map((arg) => arg.replace('FILE', file));
    const [text, json] = [await place.cdui(...given), await place.cdui(...given, '--json')];
    expect(text).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^error: .*\n$/) as string });
    expect(text.err).toContain(words);
    expect(text.err).not.toMatch(/\bE[A-Z]{4,}\b/);
    expect([json.code, failure(json).code, `error: ${failure(json).message}\n`]).toEqual([1, code, text.err]);
    expect(existsSync(join(place.folder, 'nowhere'))).toBe(false);
  });
});

it('cdui start -f --json says in JSON that the folder is taken', async () => {
  const { code, out } = await place.cdui('start', '-f', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    error: { code: 'already_running', details: { pid: place.address!.pid, url: place.address!.url } },
  });
});

it('cdui start -f --json prints where it answers, and nothing else on standard output', async () => {
  const other = new Workplace();
  try {
    const server = other.spawn('start', '-f', '--json');
    await server.said('already_running');
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
    expect(JSON.parse(server.out)).toMatchObject({ url: expect.stringMatching(/^http/) as string, folder: other.data });
    expect(server.err).toContain('answers at');
  } finally {
    await other.remove();
  }
});

it('cdui start --json says in JSON what the system refuses about the log', async () => {
  const other = new Workplace();
  try {
    mkdirSync(join(other.data, 'server.log'), { recursive: true });
    chmodSync(other.data, 0o700);
    const { code, out, err } = await other.cdui('start', '--json');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(failure({ code, out, err })).toMatchObject({
      message: expect.stringContaining('a folder is in its way') as string,
    });
  } finally {
    await other.remove();
  }
});

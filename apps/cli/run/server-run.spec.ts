import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Workplace } from '../testing/cdui';

let place: Workplace;
beforeAll(async () => {
  place = new Workplace();
  customNodes();
  expect((await place.cdui('start')).code).toBe(0);
});
afterAll(() => place.remove());

const trigger = (target: string) => ({ source: 's', sourceHandle: 'trigger', target, type: 'trigger' });
const graphOf = (name: string, type: string) => ({
  name,
  nodes: [
    { id: 's', type: 'Start' },
    { id: 'n', type },
    { id: 'p', type: 'Print' },
  ],
  edges: [trigger('n'), { source: 'n', sourceHandle: 'out', target: 'p', targetHandle: 'value' }],
});

/** Nodes with a will of their own: one greets, one fails, one waits for a file or to be stopped, and says that it does. */
function customNodes(): void {
  const folder = join(place.data, 'data', 'custom_nodes');
  mkdirSync(folder, { recursive: true });
  const node = (name: string, body: string): void =>
    writeFileSync(
      join(folder, `${name}.js`),
      `const fs = require('node:fs');
       module.exports = (sdk) => sdk.defineNode({ name: '${name}', category: 'Mine', description: '', outputs: { out: 'ANY' }, async execute(context) { ${body} } });`,
    );
  node('Greet', 'context.log("good morning"); context.metric("warmth", 21.5, 1); return { out: "hello" };');
  node('Fail', 'throw new Error("no luck");');
  node(
    'Gate',
    `context.log("at the gate");
     fs.writeFileSync(${JSON.stringify(join(place.folder, 'waiting'))}, context.scope?.runId ?? 'x');
     while (!fs.existsSync(${JSON.stringify(join(place.folder, 'open'))})) {
       if (context.cancelled) throw context.signal.reason ?? new Error('stopped');
       await new Promise((go) => setTimeout(go, 20));
     }
     return { out: "through" };`,
  );
}

const idOf = (out: string): string => /[0-9a-f]{32}/.exec(out)![0];

describe('cdui run', () => {
  it('shows a run from its submission to its result', async () => {
    const { code, out, err } = await place.cdui('run', place.file('greet.json', graphOf('Greeting', 'Greet')));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Run submitted: [0-9a-f]{32} {2}Greeting, http/);
    expect(out).toMatch(/▸ started\n✓ s\n✓ n .*\n {2}good morning\n✓ p .*\n {2}hello\n/);
    expect(out).toMatch(
      /Result\n {2}status +succeeded\n {2}duration +[\d.]+ s\n {2}metrics +warmth 21.5 {2}\(n, step 1\)\n/,
    );
  });

  it('ends with 1 and names the node when one fails; --json says it in one document', async () => {
    const file = place.file('fail.json', graphOf('Failing', 'Fail'));
    const [text, json] = await Promise.all([
      place.cdui('run', file),
      place.cdui('run', '--json', '--name', 'Mine', file),
    ]);
    expect(text.code).toBe(1);
    expect(text.out).toMatch(/✗ n\n {2}no luck\n/);
    expect(text.out).toMatch(/status +failed\n {2}error +.*no luck/);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      name: 'Mine',
      status: 'failed',
      error: expect.stringContaining('no luck') as string,
    });
  });

  it('refuses what is no graph, and says what is wrong with one', async () => {
    const [missing, broken, list, bad] = await Promise.all([
      place.cdui('run', 'gone.json'),
      place.cdui('run', place.file('broken.json', '{')),
      place.cdui('run', place.file('list.json', '[]')),
      place.cdui('run', '--json', place.file('bad.json', graphOf('Bad', 'Nope'))),
    ]);
    expect(missing).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('there is no such file') as string,
    });
    expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('not valid JSON') as string });
    expect(list).toMatchObject({ code: 1, err: expect.stringContaining('no graph file') as string });
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ error: { message: expect.stringContaining('Nope') as string } });
  });

  it('passes on where a run should go, and the server says why it cannot', async () => {
    const file = place.file('greet.json', graphOf('Greeting', 'Greet'));
    const { code, err } = await place.cdui('run', '--worker', 'gpu-box', '--devices', 'cuda:0,cuda:1', file);
    expect(code).toBe(1);
    expect(err).toContain('gpu-box');
  });

  it.each([
    [['--device', 'tpu']],
    [['--timeout', '0']],
    [['--devices', 'cuda']],
    [['--memory-gib', 'much']],
    [['--name', ' ']],
    [['--wait', '--detach']],
    [[]],
  ])('%j is a mistake: 2', async (args) => {
    const { code, out } = await place.cdui('run', ...args, ...(args.length > 0 ? ['greet.json'] : []));
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  it('leaves a run going at Ctrl+C (130) and after --timeout (1), and says so; cancel stops it', async () => {
    const file = place.file('gate.json', graphOf('Waiting', 'Gate'));
    const going = place.spawn('run', file);
    await going.said('▸ started');
    const id = idOf(going.out);
    going.child.kill('SIGINT');
    expect(await going.ended).toBe(130);
    expect(going.out).toContain('The run continues on the server');

    const late = await place.cdui('run', '--timeout', '0.5', file);
    expect(late).toMatchObject({ code: 1, out: expect.stringContaining('Not over after 0.5 s') as string });
    const list = await place.cdui('runs', 'list', '--json', '--status', 'running,queued');
    expect((JSON.parse(list.out) as { runs: { id: string }[] }).runs.map((run) => run.id)).toEqual([
      idOf(late.out),
      id,
    ]);

    const watch = place.spawn('runs', 'events', '-f', id);
    const cancelled = await place.cdui('runs', 'cancel', id.slice(0, 12), idOf(late.out));
    expect(cancelled.code).toBe(0);
    expect(await watch.ended).toBe(0);
    expect(watch.out).toMatch(/execution_stopped .*cancelled/);
    const again = await place.cdui('runs', 'cancel', id);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('had ended: cancelled') as string });
  });
});

describe('cdui runs', () => {
  it('finds, shows, repeats and deletes a run', async () => {
    const detached = await place.cdui('run', '--detach', '--json', place.file('greet.json', graphOf('Kept', 'Greet')));
    expect(detached.code).toBe(0);
    const { run_id: id } = JSON.parse(detached.out) as { run_id: string };
    const log = await place.cdui('runs', 'logs', '-f', id);
    expect(log).toMatchObject({ code: 0, out: 'good morning\nhello\n' });
    expect((await place.cdui('runs', 'logs', id, '--search', 'morning')).out).toBe('1: good morning\n');

    expect((await place.cdui('runs', 'list', '-q', 'Kept')).out).toContain(`${id.slice(0, 8)}  succeeded`);
    expect((await place.cdui('runs', 'show', 'last')).out).toContain(id);
    expect(JSON.parse((await place.cdui('runs', 'show', id, '--graph')).out)).toMatchObject({ name: 'Kept' });
    expect((await place.cdui('runs', 'metrics', id)).out).toMatch(/warmth +n +1 +21.5/);
    expect((await place.cdui('runs', 'metrics', id, '--csv')).out).toContain(`${id},n,warmth,1,21.5,`);

    const events = (await place.cdui('runs', 'events', id, '--json')).out.trim().split('\n');
    const parsed = events.map((line) => JSON.parse(line) as { cursor: number; type: string });
    expect(parsed.map(({ cursor }) => cursor)).toEqual(parsed.map((_, index) => index + 1));
    expect(parsed.at(-1)!.type).toBe('execution_complete');

    const repeated = await place.cdui('runs', 'retry', id, '--wait');
    expect(repeated.code).toBe(0);
    expect((await place.cdui('runs', 'show', idOf(repeated.out))).out).toContain(`retry of   ${id}`);
    expect(await place.cdui('runs', 'delete', id)).toMatchObject({ code: 0, out: `${id} deleted\n` });
    expect(await place.cdui('runs', 'show', id)).toMatchObject({ code: 1, out: '' });
  });

  it('says which runs a beginning could mean, and that there is none', async () => {
    const several = await place.cdui('runs', 'list', '--json');
    const ids = (JSON.parse(several.out) as { runs: { id: string }[] }).runs.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(1);
    const none = [...'0123456789abcdef']
      .flatMap((a) => [...'0123456789abcdef'].map((b) => a + b))
      .find((two) => !ids.some((id) => id.startsWith(two)))!;
    expect(await place.cdui('runs', 'show', none)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`begins with ${none}`) as string,
    });
    expect((await place.cdui('runs', 'show', 'nonsense')).code).toBe(2);
    const json = await place.cdui('runs', 'cancel', none, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'run_not_found' } });
  });
});

describe('cdui graphs', () => {
  it('keeps graphs on the server', async () => {
    const file = place.file('kept.json', graphOf('Kept graph', 'Greet'));
    expect((await place.cdui('graphs', 'save', file)).code).toBe(0);
    const again = await place.cdui('graphs', 'save', file);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('--overwrite') as string });
    expect((await place.cdui('graphs', 'save', file, '--overwrite')).code).toBe(0);
    expect((await place.cdui('graphs', 'rename', 'Kept graph', 'Other')).code).toBe(0);
    expect((await place.cdui('graphs', 'list')).out).toContain('Other');
    expect((await place.cdui('graphs', 'show', 'Other')).out).toMatch(/n +Greet +s\np +Print +n/);
    expect((await place.cdui('graphs', 'load', 'Other', '-o', 'out.json')).code).toBe(0);
    expect(JSON.parse(readFileSync(join(place.folder, 'out.json'), 'utf8'))).toMatchObject({
      nodes: [{ id: 's' }, { id: 'n' }, { id: 'p' }],
    });
    expect(await place.cdui('graphs', 'load', 'Other', '-o', 'out.json')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--force') as string,
    });
    expect((await place.cdui('graphs', 'delete', 'Other')).code).toBe(0);
    expect((await place.cdui('graphs', 'load', 'Other')).code).toBe(1);
  });

  it('has a graph checked', async () => {
    expect(await place.cdui('graphs', 'validate', place.file('ok.json', graphOf('Ok', 'Greet')))).toMatchObject({
      code: 0,
      out: 'validation OK\n',
    });
    const bad = await place.cdui('graphs', 'validate', place.file('bad.json', graphOf('Bad', 'Nope')));
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/problems?:\n {2}1\. .*Nope/);
  });
});

describe('a server that is started again', () => {
  it('is waited for: the run says that it was interrupted, and a log is followed to its end', async () => {
    const going = place.spawn('run', place.file('gate.json', graphOf('Restarted', 'Gate')));
    await going.said('▸ started');
    const id = idOf(going.out);
    const log = place.spawn('runs', 'logs', '-f', id);
    await log.said('at the gate');
    const before = place.address!;

    process.kill(before.pid, 'SIGKILL');
    await Promise.all([going.said('waiting for it to come back'), log.said('waiting for it to come back', 'err')]);
    expect((await place.cdui('start')).code).toBe(0);
    expect(place.address!.url).not.toBe(before.url);

    expect(await going.ended).toBe(1);
    expect(going.out).toMatch(/the server is back\n(.*\n)*Result\n {2}status +interrupted/);
    expect(await log.ended).toBe(0);
    expect(log.out).toBe('at the gate\n');
    expect(existsSync(join(place.folder, 'open'))).toBe(false);
  });

  it('has stopped its runs when it is asked to stop', async () => {
    const going = place.spawn('run', place.file('gate.json', graphOf('Stopped', 'Gate')));
    await going.said('▸ started');
    expect((await place.cdui('stop')).out).toContain('stopped after');
    expect((await place.cdui('start')).code).toBe(0);
    expect(await going.ended).toBe(1);
    expect(going.out + going.err).toMatch(/status +interrupted/);
  });

  it('that nobody has started: the way out is named', async () => {
    await place.cdui('stop');
    for (const args of [
      ['run', place.file('greet.json', graphOf('Greeting', 'Greet'))],
      ['runs', 'list'],
    ]) {
      expect(await place.cdui(...args)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining('cdui start') as string,
      });
    }
  });
});

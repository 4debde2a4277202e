import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Workplace } from '../testing/cdui';

let place: Workplace;
beforeEach(() => (place = new Workplace()));
afterEach(() => place.remove());

const graph = {
  name: 'Kept',
  nodes: [
    { id: 's', type: 'Start' },
    { id: 't', type: 'TextInput' },
  ],
  edges: [{ source: 's', sourceHandle: 'trigger', target: 't', type: 'trigger' }],
};

it('cdui db backup copies the database of a running server, and a server starts on the copy', async () => {
  await place.cdui('start');
  const run = await place.cdui('run', '--json', place.file('g.json', graph));
  const { run_id: id } = JSON.parse(run.out) as { run_id: string };
  const copy = join(place.folder, 'copy.db');
  expect(await place.cdui('db', 'backup', copy)).toMatchObject({
    code: 0,
    out: expect.stringContaining(copy) as string,
  });
  const again = await place.cdui('db', 'backup', copy);
  expect(again).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^error: .*copy\.db/) as string });
  const forced = await place.cdui('db', 'backup', copy, '--force', '--json');
  expect(JSON.parse(forced.out)).toMatchObject({ file: copy, folder: place.data });

  await place.cdui('stop');
  const data = join(place.data, 'data');
  for (const name of ['codefyui.db', 'codefyui.db-wal', 'codefyui.db-shm']) {
    if (existsSync(join(data, name))) renameSync(join(data, name), join(place.folder, `old-${name}`));
  }
  mkdirSync(data, { recursive: true });
  renameSync(copy, join(data, 'codefyui.db'));
  await place.cdui('start');
  expect((await place.cdui('runs', 'show', id)).out).toMatch(/Kept[^]*status +succeeded/);
});

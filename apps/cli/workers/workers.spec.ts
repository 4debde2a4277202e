import { Workplace } from '../testing/cdui';
import type { Worker } from './worker-lines';
import { drainLines } from './worker-lines';

it('cdui workers drain and undrain: a worker takes no new runs until it may again', async () => {
  const place = new Workplace();
  try {
    await place.cdui('start');
    await place.cdui('agent', 'start', '--name', 'box');
    const drained = await place.cdui('workers', 'drain', 'box');
    expect(drained).toEqual({ code: 0, err: '', out: 'box takes no new runs. No run is left there.\n' });
    expect((await place.cdui('workers', 'list')).out).toMatch(/box +online, draining/);
    const again = await place.cdui('workers', 'drain', 'box', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ name: 'box', draining: true });
    const undrained = await place.cdui('workers', 'undrain', 'box');
    expect(undrained).toEqual({ code: 0, err: '', out: 'box takes new runs.\n' });
    expect((await place.cdui('workers', 'list')).out).not.toContain('draining');
    const nobody = await place.cdui('workers', 'drain', 'nobody', '--json');
    expect({ ...nobody, out: JSON.parse(nobody.out) as unknown }).toMatchObject({
      code: 1,
      out: { error: { code: 'worker_not_found' } },
    });
    const shown = await place.cdui('workers', 'show', 'nobody');
    expect(shown).toMatchObject({
      code: 1,
      err: 'error: There is no worker "nobody": "cdui workers list" shows all\n',
    });
  } finally {
    await place.cdui('agent', 'stop', '--name', 'box');
    await place.remove();
  }
});

it.each([
  [[], 'No run is left there.'],
  [['0123456789abcdef'], '1 run goes on there: 01234567.'],
  [['0123456789abcdef', 'fedcba9876543210'], '2 runs go on there: 01234567, fedcba98.'],
])('says which runs go on: %j', (running, said) => {
  const worker = { name: 'box', draining: true, running } as unknown as Worker;
  expect(drainLines(worker)).toEqual([`box takes no new runs. ${said}`]);
});

import { machineId } from '@cdui/host/machine-id';
import { Site } from './site';

let site: Site;
beforeAll(async () => {
  site = await Site.open();
});
afterAll(() => site.close());

it('a worker on the server’s own machine has the server’s processor, and both together admit what one does', async () => {
  // Without it nobody could say that the two are on one machine.
  expect(await machineId()).not.toBeNull();
  await site.agent('guest');
  const { devices } = await site.worker('guest');
  expect(devices.find(({ device }) => device === 'cpu')).toMatchObject({
    slots: { used: 0, limit: 2, limited_by: null },
    same_card: [{ worker: 'local', device: 'cpu' }],
  });
  const busy = [
    await site.submit('Await', { target: { worker: 'guest' } }, 'first'),
    await site.submit('Await', { target: { worker: 'guest' } }, 'second'),
  ];
  for (const id of busy) await site.begun(id);
  const here = await site.submit('Give', {});
  const anywhere = await site.submit('Give', { target: { worker: 'any' } });
  for (const id of [here, anywhere]) {
    expect(await site.run(id)).toMatchObject({ status: 'queued', queue_position: 1, queue_reason: null });
  }
  site.openGate('first');
  expect(await site.ended(here)).toMatchObject({ status: 'succeeded', worker_id: null, queue_key: 'cpu' });
  expect(await site.ended(anywhere)).toMatchObject({ status: 'succeeded', worker_id: 'guest', queue_key: 'any/cpu' });
  site.openGate('second');
  for (const id of busy) expect(await site.ended(id)).toMatchObject({ status: 'succeeded' });
});

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import { buildFakeNvml, type FakeCard, writePlan } from '@cdui/host/testing/fake-nvml';
import { Site } from './site';

const NODES = {
  Show: `context.log(JSON.stringify({
    order: process.env.CUDA_DEVICE_ORDER, visible: process.env.CUDA_VISIBLE_DEVICES, device: context.device,
  })); return { value: 1 };`,
};
const PROVIDER = entryPath('libs/run-host/testing/cuda-provider');

const card = (bus: number): FakeCard => ({
  ...{ busId: `00000000:0${bus}:00.0`, uuid: `GPU-${bus}`, name: `Card ${bus}`, used: bus, utilization: bus },
});
/** As the driver lists them: in no order. */
const CARDS = [card(3), card(1), card(4), card(2)];

let site: Site;
let library: string;
beforeAll(async () => {
  [site, library] = await Promise.all([Site.open(NODES), buildFakeNvml()]);
});
afterEach(() => site.endAgents());
afterAll(async () => {
  await site.close();
  rmSync(dirname(library), { recursive: true });
});

const planOf = (name: string): string => join(site.folder, `${name}.plan`);

/** An agent of a machine with four cards. */
async function agent(name: string): Promise<void> {
  writePlan(planOf(name), { cards: CARDS });
  await site.agent(name, {
    CODEFYUI_NVML_LIBRARY: library,
    FAKE_NVML_PLAN: planOf(name),
    CODEFYUI_RUNTIME_PROVIDERS: PROVIDER,
  });
}

const on = (worker: string, ...devices: readonly string[]): object => ({ target: { worker, devices } });
const lastPrinted = async (id: string): Promise<unknown> => JSON.parse((await site.printed(id)).split('\n')[0]!);

describe('the cards of a worker', () => {
  it('are offered in the order of the bus, whatever the driver’s', async () => {
    await agent('order');
    const { devices } = await site.worker('order');
    expect(devices.map(({ device, uuid, name }) => [device, uuid, name])).toEqual([
      ['cpu', null, expect.any(String)],
      ['cuda:0', 'GPU-1', 'Card 1'],
      ['cuda:1', 'GPU-2', 'Card 2'],
      ['cuda:2', 'GPU-3', 'Card 3'],
      ['cuda:3', 'GPU-4', 'Card 4'],
    ]);
  });

  it('are a run’s own in the order it asked for, and it computes on its first', async () => {
    await agent('set');
    const id = await site.submit('Show', on('set', 'cuda:2', 'cuda:0'));
    expect(await site.ended(id)).toMatchObject({
      status: 'succeeded',
      worker_id: 'set',
      devices: ['cuda:2', 'cuda:0'],
      execution_facts: {
        visible_devices: '2,0',
        device_aliases: { 'cuda:0': 'cuda:2', 'cuda:1': 'cuda:0' },
        runtime: { device: 'cuda:0' },
        worker_resume: {
          slots: [
            { worker: 'set', device: 'cuda:2' },
            { worker: 'set', device: 'cuda:0' },
          ],
        },
      },
    });
    expect(await lastPrinted(id)).toEqual({ order: 'PCI_BUS_ID', visible: '2,0', device: 'cuda:0' });
    const onProcessor = await site.submit('Show', on('set', 'cpu'));
    expect(await site.ended(onProcessor)).toMatchObject({ status: 'succeeded' });
    expect(await lastPrinted(onProcessor)).toEqual({ order: 'PCI_BUS_ID', visible: '', device: 'cpu' });
  });

  it('are all taken by a run that asked for several, and all free again at its end', async () => {
    await agent('slots');
    const both = await site.submit('Await', on('slots', 'cuda:2', 'cuda:0'), 'both');
    await site.begun(both);
    expect(await site.used('slots')).toEqual({ cpu: 0, 'cuda:0': 1, 'cuda:1': 0, 'cuda:2': 1, 'cuda:3': 0 });
    const waits = await site.submit('Give', on('slots', 'cuda:0'));
    // Any card will do: the first free one.
    const anyCard = await site.submit('Await', { device: 'cuda', target: { worker: 'slots' } }, 'any');
    expect(await site.begun(anyCard)).toMatchObject({
      devices: ['cuda:1'],
      execution_facts: { visible_devices: '1', device_aliases: { 'cuda:0': 'cuda:1' } },
    });
    expect(await site.run(waits)).toMatchObject({ status: 'queued', queue_reason_code: null });
    site.openGate('both');
    expect(await site.ended(waits)).toMatchObject({ status: 'succeeded', devices: ['cuda:0'] });
    site.openGate('any');
    await site.ended(anyCard);
    expect(await site.used('slots')).toEqual({ cpu: 0, 'cuda:0': 0, 'cuda:1': 0, 'cuda:2': 0, 'cuda:3': 0 });
  });

  it('keep what was known of them while their driver hangs, and the worker goes on', async () => {
    await agent('wedged');
    writePlan(planOf('wedged'), { cards: CARDS, wedge: true });
    const measured = { device: 'cuda:3', uuid: 'GPU-4', utilization: 4 };
    const before = await site.worker('wedged', ({ devices }) => devices.at(-1)?.free_bytes === null);
    expect(before.devices.at(-1)).toEqual(
      expect.objectContaining({ ...measured, free_bytes: null, utilization: null, total_bytes: 1024 ** 3 }),
    );
    // Three heartbeats: one missed would not show.
    for (let beat = 0, seen = before.last_seen_at; beat < 3; beat++) {
      const next = await site.worker('wedged', ({ last_seen_at: at }) => at !== seen);
      expect(next).toMatchObject({ status: 'online', connected_at: before.connected_at });
      expect(next.devices).toHaveLength(5);
      seen = next.last_seen_at;
    }
    const id = await site.submit('Show', on('wedged', 'cuda:3'));
    expect(await site.ended(id)).toMatchObject({ status: 'succeeded', execution_facts: { visible_devices: '3' } });
    writePlan(planOf('wedged'), { cards: CARDS });
    await site.worker('wedged', ({ devices }) => devices.at(-1)?.utilization === 4);
  });

  it('are offered no more when they are gone: what waits for one says so, and starts when it is back', async () => {
    await agent('gone');
    const holds = await site.submit('Await', on('gone', 'cuda:3'), 'holds');
    await site.begun(holds);
    const waits = await site.submit('Give', on('gone', 'cuda:3'));
    expect(await site.run(waits)).toMatchObject({ status: 'queued', queue_reason_code: null });
    writePlan(planOf('gone'), { cards: [card(3), card(1), { ...card(4), lost: true }, card(2)] });
    expect(await site.run(waits, ({ queue_reason_code: code }) => code !== null)).toMatchObject({
      queue_reason_code: 'no_worker_offers',
      queue_reason_params: { devices: ['cuda:3'] },
    });
    const { devices } = await site.worker('gone');
    expect(devices.map(({ uuid }) => uuid)).toEqual([null, 'GPU-1', 'GPU-2', 'GPU-3']);
    // What has begun is not the worse for it.
    site.openGate('holds');
    expect(await site.ended(holds)).toMatchObject({ status: 'succeeded' });
    expect(await site.run(waits)).toMatchObject({ status: 'queued' });
    writePlan(planOf('gone'), { cards: CARDS });
    expect(await site.ended(waits)).toMatchObject({ status: 'succeeded', devices: ['cuda:3'] });
    writePlan(planOf('gone'), { cards: [] });
    await site.worker('gone', ({ devices: now }) => now.length === 1);
  });
});

it('a run for any worker goes past one that is drained, and waits for it when no other has a card', async () => {
  await Promise.all([agent('any-a'), agent('any-b')]);
  const anyCard = { device: 'cuda', target: { worker: 'any' } };
  await site.drain('any-a');
  expect(await site.ended(await site.submit('Give', anyCard))).toMatchObject({ worker_id: 'any-b' });
  await site.drain('any-b');
  const id = await site.submit('Give', anyCard);
  expect(await site.run(id)).toMatchObject({ status: 'queued', queue_reason_code: 'only_draining_workers' });
  await site.undrain('any-a');
  expect(await site.ended(id)).toMatchObject({ status: 'succeeded', worker_id: 'any-a' });
});

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import { buildFakeNvml, writePlan } from '@cdui/host/testing/fake-nvml';
import { Site } from './site';

let site: Site;
let library: string;
beforeAll(async () => {
  [site, library] = await Promise.all([Site.open(), buildFakeNvml()]);
});
afterAll(async () => {
  await site.close();
  rmSync(dirname(library), { recursive: true });
});

it('a card that two agents offer admits one run, whichever of them it is for', async () => {
  const plan = join(site.folder, 'cards.plan');
  writePlan(plan, {
    cards: [1, 2].map((bus) => ({ busId: `00000000:0${bus}:00.0`, uuid: `GPU-${bus}`, name: `Card ${bus}` })),
  });
  const env = {
    CODEFYUI_NVML_LIBRARY: library,
    FAKE_NVML_PLAN: plan,
    CODEFYUI_RUNTIME_PROVIDERS: entryPath('libs/run-host/testing/cuda-provider'),
  };
  await Promise.all([site.agent('one', env), site.agent('two', env)]);
  const { devices } = await site.worker('two');
  const shared = devices.find(({ device }) => device === 'cuda:1');
  expect(shared).toMatchObject({ uuid: 'GPU-2', same_card: [{ worker: 'one', device: 'cuda:1' }] });
  const on = (worker: string, ...cards: readonly string[]): object => ({ target: { worker, devices: cards } });

  const first = await site.submit('Await', on('one', 'cuda:1'), 'first');
  await site.begun(first);
  expect((await site.used('two'))['cuda:1']).toBe(1);
  const second = await site.submit('Await', on('two', 'cuda:1'), 'second');
  // The other card is as free as ever.
  expect(await site.ended(await site.submit('Give', on('two', 'cuda:0')))).toMatchObject({ status: 'succeeded' });
  expect(await site.run(second)).toMatchObject({ status: 'queued' });
  const both = await site.submit('Give', on('one', 'cuda:0', 'cuda:1'));
  site.openGate('first');
  await site.begun(second);
  expect(await site.run(both)).toMatchObject({ status: 'queued' });
  site.openGate('second');
  expect(await site.ended(both)).toMatchObject({ status: 'succeeded', worker_id: 'one' });
  expect((await site.used('one'))['cuda:1']).toBe(0);
});

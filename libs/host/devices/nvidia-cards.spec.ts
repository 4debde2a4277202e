import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DeviceFacts } from '@cdui/protocol';
import fc from 'fast-check';
import { times } from '../../../testing/long';
import { entryPath } from '../entry';
import {
  buildFakeNvml,
  type FakeCard,
  type FakeCounts,
  fakeCounts,
  setNativeVariable,
  writePlan,
} from '../testing/fake-nvml';
import { NvidiaCards } from './nvidia-cards';

/** Far more than the fake takes; one that hangs is given less. */
const PATIENT_MS = 30_000;

let folder: string;
let plan: string;
let library: string;
let counts: FakeCounts;

beforeAll(async () => {
  library = await buildFakeNvml();
  counts = fakeCounts(library);
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-nvml-'));
  plan = join(folder, 'plan');
  setNativeVariable('FAKE_NVML_PLAN', plan);
});

afterEach(async () => {
  // Nothing that still waits in the fake may outlive its plan.
  writePlan(plan, { cards: [card(1)] });
  for (const cards of made.splice(0)) await answered(cards);
  rmSync(folder, { recursive: true, force: true });
});

afterAll(() => rmSync(dirname(library), { recursive: true, force: true }));

const card = (bus: number, more: Partial<FakeCard> = {}): FakeCard => ({
  busId: `00000000:${bus.toString(16).padStart(2, '0')}:00.0`,
  uuid: `GPU-${bus}`,
  ...more,
});
const made: NvidiaCards[] = [];
function nvidiaCards(deadlineMs = PATIENT_MS): NvidiaCards {
  const cards = new NvidiaCards(library, deadlineMs);
  made.push(cards);
  return cards;
}
const names = (cards: readonly DeviceFacts[]): readonly string[] =>
  cards.map(({ device, uuid }) => `${device} ${uuid}`);

/** What the driver says itself, once it answers (there is a card). */
async function answered(cards: NvidiaCards): Promise<readonly DeviceFacts[]> {
  for (;;) {
    const read = await cards.read();
    if (read.length > 0 && read[0]!.free_bytes !== null) return read;
  }
}

it('shows each card with its name, its memory and what it is busy with', async () => {
  const total = 80 * 1024 ** 3;
  writePlan(plan, { cards: [card(1, { name: 'NVIDIA A100 80GB', total, used: 1024 ** 3, utilization: 37 })] });
  expect(await nvidiaCards().read()).toEqual([
    {
      device: 'cuda:0',
      name: 'NVIDIA A100 80GB',
      uuid: 'GPU-1',
      total_bytes: total,
      free_bytes: total - 1024 ** 3,
      utilization: 37,
    },
  ]);
});

it('says null for what a card does not tell', async () => {
  writePlan(plan, { cards: [card(1, { total: null, utilization: null })] });
  expect(await nvidiaCards().read()).toMatchObject([{ total_bytes: null, free_bytes: null, utilization: null }]);
});

it('numbers 0 to 8 cards in the order of the bus, in whatever order the driver lists them', async () => {
  const address = fc.tuple(fc.constantFrom(0, 1, 0xffff), fc.nat(255), fc.nat(31));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(address, { maxLength: 8, selector: String }), async (addresses) => {
      const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
      const cards = addresses.map(([domain, bus, device]) => {
        const busId = `${hex(domain, 8)}:${hex(bus, 2)}:${hex(device, 2)}.0`;
        return { busId, uuid: `GPU-${busId}` };
      });
      writePlan(plan, { cards });
      // With equally many digits everywhere, the order of the addresses is that of their texts.
      const expected = cards.map(({ uuid }) => uuid).sort();
      expect(names(await nvidiaCards().read())).toEqual(expected.map((uuid, index) => `cuda:${index} ${uuid}`));
    }),
    { numRuns: times(50, 2_000) },
  );
});

it('leaves out a lost card, and numbers the others as a program that starts then would', async () => {
  const cards = nvidiaCards();
  writePlan(plan, { cards: [card(3), card(1), card(2)] });
  expect(names(await cards.read())).toEqual(['cuda:0 GPU-1', 'cuda:1 GPU-2', 'cuda:2 GPU-3']);
  writePlan(plan, { cards: [card(3), card(1), card(2, { lost: true })] });
  expect(names(await cards.read())).toEqual(['cuda:0 GPU-1', 'cuda:1 GPU-3']);
  writePlan(plan, { cards: [card(3), card(1), card(2)] });
  expect(await cards.read()).toHaveLength(3);
});

it('has no cards where there is no library, where it is another one, and where the driver refuses', async () => {
  expect(await new NvidiaCards(join(folder, 'none.so')).read()).toEqual([]);
  expect(await new NvidiaCards('libc.so.6').read()).toEqual([]);
  const other = await buildFakeNvml();
  try {
    const cards = new NvidiaCards(other, PATIENT_MS);
    writePlan(plan, { cards: [card(1)], init: 9 });
    expect(await cards.read()).toEqual([]);
    // The driver was loaded since.
    writePlan(plan, { cards: [card(1)] });
    expect(await cards.read()).toHaveLength(1);
  } finally {
    rmSync(dirname(other), { recursive: true });
  }
});

describe('a driver that does not answer', () => {
  it('is waited for until the deadline, then what was known stands in, without what changes', async () => {
    writePlan(plan, { cards: [card(1, { used: 5, utilization: 7 })] });
    const cards = nvidiaCards(1_000);
    const [known] = await cards.read();
    writePlan(plan, { cards: [card(1)], wedge: true });
    const started = performance.now();
    expect(await cards.read()).toEqual([{ ...known, free_bytes: null, utilization: null }]);
    expect(performance.now() - started).toBeGreaterThan(990);
    expect(performance.now() - started).toBeLessThan(2_000);
    writePlan(plan, { cards: [card(1, { utilization: 9 })] });
    expect(await answered(cards)).toMatchObject([{ uuid: 'GPU-1', utilization: 9 }]);
  });

  it('is asked nothing more until it has answered, however often the cards are read', async () => {
    writePlan(plan, { cards: [card(1)] });
    const cards = nvidiaCards(300);
    await cards.read();
    writePlan(plan, { cards: [card(1)], wedge: true });
    const reads = Array.from({ length: 20 }, () => cards.read());
    await Promise.all(reads);
    const calls = counts.calls();
    const overdue = performance.now();
    for (let again = 0; again < 20; again++) expect(await cards.read()).toMatchObject([{ free_bytes: null }]);
    // The deadline counts from the question: nobody waits for it a second time.
    expect(performance.now() - overdue).toBeLessThan(300);
    expect(counts.calls()).toBe(calls);
    expect(counts.outstanding()).toBe(1);
    expect(counts.maxOutstanding()).toBe(1);
  });

  it('shows no card when it never answered', async () => {
    writePlan(plan, { cards: [card(1)], wedge: true });
    expect(await nvidiaCards(50).read()).toEqual([]);
  });

  it('holds up neither the event loop nor files, in a program of its own', async () => {
    writePlan(plan, { cards: [card(1)] });
    const script = `
      const { MachineInventory } = require(process.argv[1]);
      const { readFile } = require('node:fs/promises');
      const inventory = new MachineInventory();
      const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
      inventory.read().then(async (devices) => {
        say(devices);
        await new Promise((resolve) => process.stdin.once('data', resolve));
        let ticks = 0;
        const timer = setInterval(() => ticks++, 10);
        const read = inventory.read();
        for (let i = 0; i < 100; i++) await readFile('/proc/stat');
        await read;
        clearInterval(timer);
        say({ ticks });
      });`;
    const child = spawn(process.execPath, ['-e', script, entryPath('libs/host/devices/index')], {
      env: { ...process.env, CODEFYUI_NVML_LIBRARY: library, FAKE_NVML_PLAN: plan },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      const [first] = (await once(child.stdout, 'data')) as [Buffer];
      const devices = JSON.parse(first.toString()) as DeviceFacts[];
      expect(names(devices)).toEqual(['cpu null', 'cuda:0 GPU-1']);
      expect(devices[0]).toMatchObject({ utilization: null, total_bytes: expect.any(Number) as number });
      expect(devices[0]!.total_bytes! / 1024).toBeCloseTo(await memTotalKib(), 0);
      writePlan(plan, { cards: [card(1)], wedge: true });
      child.stdin.write('go');
      const [second] = (await once(child.stdout, 'data')) as [Buffer];
      expect((JSON.parse(second.toString()) as { ticks: number }).ticks).toBeGreaterThan(50);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

/** What the machine has, or the container where that is less. */
async function memTotalKib(): Promise<number> {
  const total = Number(/^MemTotal: +(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'))![1]);
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(total, limit / 1024) : total;
}

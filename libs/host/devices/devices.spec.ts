import { Cpu, type CpuTimes, parseProcStat } from './cpu';
import { MachineInventory } from './device-inventory';
import { parseSysctl } from './mps';
import { NvidiaCards } from './nvidia-cards';

const STAT = `cpu  1000 20 300 5000 700 0 30 50 400 8
cpu0 500 10 150 2500 350 0 15 25 200 4
intr 12345
`;

it('reads the time of all cores: waiting is idle, and guests are not counted twice', () => {
  expect(parseProcStat(STAT)).toEqual({ busy: 1400, total: 7100 });
  for (const odd of ['', 'cpu 1 2', 'cpu0 1 2 3 4 5 6 7 8\n', 'cpu  x']) expect(parseProcStat(odd)).toBeNull();
});

it('takes the utilization of the CPU from one read to the next', async () => {
  const samples: (CpuTimes | null)[] = [
    { busy: 100, total: 1000 },
    { busy: 125, total: 1100 },
    { busy: 125, total: 1100 },
    { busy: 120, total: 1110 },
    null,
    { busy: 130, total: 1120 },
  ];
  const cpu = new Cpu(() => Promise.resolve(samples.shift() ?? null));
  const seen: (number | null)[] = [];
  while (samples.length > 0) seen.push((await cpu.read()).utilization);
  // Not known at first; kept when no time went by or none is told; never below 0.
  expect(seen).toEqual([null, 25, 25, 0, 0, 100]);
});

it('shows this machine, and no cards where there is no driver', async () => {
  const [cpu, ...rest] = await new MachineInventory(new NvidiaCards('/nowhere/libnvidia-ml.so.1')).read();
  expect(cpu).toMatchObject({ device: 'cpu', uuid: null, name: expect.stringMatching(/./) as string });
  expect(cpu!.free_bytes!).toBeGreaterThan(0);
  expect(cpu!.free_bytes!).toBeLessThanOrEqual(cpu!.total_bytes!);
  expect(rest.map(({ device }) => device)).toEqual(
    process.platform === 'darwin' && process.arch === 'arm64' ? ['mps:0'] : [],
  );
});

it('reads the GPU of an Apple chip, and none of an Intel one', () => {
  expect(parseSysctl('machdep.cpu.brand_string: Apple M2 Pro\nhw.memsize: 34359738368\n')).toEqual({
    device: 'mps:0',
    name: 'Apple M2 Pro',
    uuid: null,
    total_bytes: 34359738368,
    free_bytes: null,
    utilization: null,
  });
  expect(parseSysctl('machdep.cpu.brand_string: Apple M1\n')).toMatchObject({ total_bytes: null });
  const intel = 'machdep.cpu.brand_string: Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz\nhw.memsize: 17179869184\n';
  for (const none of [intel, 'sysctl: unknown oid', '']) expect(parseSysctl(none)).toBeNull();
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import type { TensorRuntime } from '@cdui/tensor/runtime';
import type { RuntimeProvider } from './providers';
import { covers, loadProviders, RuntimeProviders } from './providers';

const fake = (name: string, devices: readonly string[]): RuntimeProvider => ({
  name,
  devices,
  open: (device) => Promise.resolve({ facts: { device, deviceName: name } } as TensorRuntime),
});

describe('RuntimeProviders', () => {
  it('computes on the processor without any other provider', async () => {
    const providers = new RuntimeProviders();
    expect(providers.devices).toEqual(['cpu']);
    const runtime = await providers.open('cpu', {});
    expect(runtime.facts).toMatchObject({ kind: 'onnx', device: 'cpu' });
    await runtime.close();
  });

  it('refuses a device that nobody serves, and says which are served', async () => {
    await expect(new RuntimeProviders().open('cuda:0', {})).rejects.toMatchObject({
      code: 'device_not_available',
      message: 'The device cuda:0 is not available: this program computes on cpu',
    });
  });

  it('prefers what was registered last', async () => {
    const providers = new RuntimeProviders([fake('one', ['cuda:*']), fake('two', ['cuda:1', 'cpu'])]);
    const names = ['cuda:0', 'cuda:1', 'cpu'].map((device) => providers.open(device, {}));
    expect((await Promise.all(names)).map(({ facts }) => facts.deviceName)).toEqual(['one', 'two', 'two']);
    expect(providers.devices).toEqual(['cpu', 'cuda:*', 'cuda:1']);
  });
});

describe('covers', () => {
  it('knows a device by its name and by its kind', () => {
    expect(covers('cuda:*', 'cuda:12')).toBe(true);
    expect(covers('cuda:1', 'cuda:1')).toBe(true);
    expect(covers('cuda:1', 'cuda:12')).toBe(false);
    expect(covers('cuda:*', 'cuda:')).toBe(false);
    expect(covers('cuda:*', 'cuda:x')).toBe(false);
    expect(covers('cuda:*', 'mps:0')).toBe(false);
  });
});

describe('loadProviders', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'providers-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('takes one provider or several from each module', () => {
    const one = written('one.cjs', `module.exports = { name: 'one', devices: ['mps:0'], open() {} };`);
    const more = written('more.cjs', `exports.default = [{ name: 'two', devices: ['cuda:*'], open() {} }];`);
    const env = { CODEFYUI_RUNTIME_PROVIDERS: [one, more].join(delimiter) };
    expect(loadProviders(env).devices).toEqual(['cpu', 'cuda:*', 'mps:0']);
    expect(loadProviders({}).devices).toEqual(['cpu']);
  });

  it('names the module that cannot be used', () => {
    const problem = (path: string): (() => unknown) => {
      return () => loadProviders({ CODEFYUI_RUNTIME_PROVIDERS: path });
    };
    expect(problem(join(folder, 'none.cjs'))).toThrow(/none\.cjs cannot be loaded: Cannot find module/);
    expect(problem(written('bad.cjs', `module.exports = { name: 'x', devices: 'cpu', open() {} };`))).toThrow(
      /bad\.cjs must export \{name, devices, open\}/,
    );
  });

  it('lets tests compute in the place of a card', async () => {
    const module = entryPath('libs/run-host/testing/cuda-provider');
    const runtime = await loadProviders({ CODEFYUI_RUNTIME_PROVIDERS: module }).open('cuda:1', {});
    const scope = runtime.openScope({ label: 'test', seed: 1 });
    const sum = scope.op('sum', [scope.upload({ shape: [2], dtype: 'float32', data: Float32Array.of(1, 2) })], {});
    expect(runtime.facts.device).toBe('cuda:1');
    expect(await scope.readScalar(sum)).toBe(3);
    scope.close();
    await runtime.close();
  });
});

import { createRequire } from 'node:module';
import { delimiter, resolve } from 'node:path';
import type { RunOptions } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import type { TensorRuntime } from '@cdui/tensor/runtime';

/** Something that computes: it says on which devices, and opens runtimes there. */
export interface RuntimeProvider {
  /** For people, in errors. */
  readonly name: string;
  /** Devices that it serves: `cpu`, `cuda:0`, or a kind with all its numbers, `cuda:*`. */
  readonly devices: readonly string[];
  /** Opens a runtime whose facts name this device. What it needs for that is loaded here, not with the module. */
  open(device: string, options: RunOptions): Promise<TensorRuntime>;
}

/** What computes without anything installed. */
const EMBEDDED: RuntimeProvider = {
  name: 'the embedded runtime',
  devices: ['cpu'],
  open: () => openOnnxRuntime({ device: 'cpu' }),
};

/** What computes here. A later provider goes before an earlier one, the embedded runtime comes last. */
export class RuntimeProviders {
  private readonly providers: readonly RuntimeProvider[];

  constructor(more: readonly RuntimeProvider[] = []) {
    this.providers = [...more.toReversed(), EMBEDDED];
  }

  /** Everything that is served, as providers name it. */
  get devices(): readonly string[] {
    return [...new Set(this.providers.flatMap(({ devices }) => devices))].sort();
  }

  /**
   * Opens a runtime on the device.
   *
   * @throws CodedError `device_not_available` when nobody serves it
   */
  open(device: string, options: RunOptions): Promise<TensorRuntime> {
    const provider = this.providers.find(({ devices }) => devices.some((served) => covers(served, device)));
    if (provider) return provider.open(device, options);
    const message = `The device ${device} is not available: this program computes on ${this.devices.join(', ')}`;
    return Promise.reject(new CodedError('device_not_available', message, { device }));
  }
}

/** Whether what a provider names is that device, or its kind: `cuda:*` covers `cuda:1`. */
export function covers(served: string, device: string): boolean {
  if (!served.endsWith(':*')) return served === device;
  return device.startsWith(served.slice(0, -1)) && /^\d+$/.test(device.slice(served.length - 1));
}

/**
 * The embedded runtime and what the modules named by `CODEFYUI_RUNTIME_PROVIDERS` export: paths of CommonJS modules, separated as in `PATH`, each
 * exporting a `RuntimeProvider` or a list of them.
 *
 * @throws CodedError `invalid_setting` that names the module and what is wrong with it
 */
export function loadProviders(env: Readonly<Record<string, string | undefined>>): RuntimeProviders {
  const paths = (env['CODEFYUI_RUNTIME_PROVIDERS'] ?? '').split(delimiter).filter((path) => path.trim() !== '');
  return new RuntimeProviders(paths.flatMap((path) => providersIn(resolve(path.trim()))));
}

const load = createRequire(__filename);

function providersIn(path: string): readonly RuntimeProvider[] {
  let exported: unknown;
  try {
    exported = load(path);
  } catch (error) {
    throw refused(path, `cannot be loaded: ${(error as Error).message}`);
  }
  const given = isObject(exported) && 'default' in exported ? exported['default'] : exported;
  const providers: readonly unknown[] = Array.isArray(given) ? given : [given];
  for (const provider of providers) {
    if (!isProvider(provider)) throw refused(path, 'must export {name, devices, open}, or a list of such objects');
  }
  return providers as readonly RuntimeProvider[];
}

function isProvider(value: unknown): value is RuntimeProvider {
  if (!isObject(value)) return false;
  const { name, devices, open } = value;
  const named = Array.isArray(devices) && devices.every((device) => typeof device === 'string');
  return typeof name === 'string' && named && typeof open === 'function';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function refused(path: string, problem: string): CodedError {
  const message = `CODEFYUI_RUNTIME_PROVIDERS: the module ${path} ${problem}`;
  return new CodedError('invalid_setting', message, { setting: 'CODEFYUI_RUNTIME_PROVIDERS', value: path });
}

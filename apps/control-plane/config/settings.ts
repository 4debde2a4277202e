import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { CodedError } from '@cdui/protocol';

/** Settings of the control plane, read once at start from `CODEFYUI_*` variables. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Holds everything this server keeps: `data/`, token and log files. */
  readonly userDataDir: string;
  readonly customNodesDir: string;
  readonly presetsDir: string;
  /** `host[:port]` values a request may carry besides this machine's own. */
  readonly extraAllowedHosts: readonly string[];
}

export const SETTINGS = Symbol('SETTINGS');

/**
 * @throws CodedError `invalid_settings` that names every bad variable at once, with its value and what it accepts
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = [];
  const port = Number(env['CODEFYUI_PORT'] ?? '8000');
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    problems.push(`CODEFYUI_PORT is "${env['CODEFYUI_PORT']}": give a whole number from 0 (any free port) to 65535`);
  }
  const host = (env['CODEFYUI_HOST'] ?? '127.0.0.1').trim();
  if (host === '' || /[\s/]/.test(host)) {
    problems.push(`CODEFYUI_HOST is "${env['CODEFYUI_HOST']}": give an address or host name, such as 127.0.0.1`);
  }
  if (problems.length > 0) throw new CodedError('invalid_settings', problems.join('\n'), { problems });
  const userDataDir = folder(env['CODEFYUI_USER_DATA_DIR'], join(homedir(), '.codefyui'));
  return {
    host,
    port,
    userDataDir,
    customNodesDir: folder(env['CODEFYUI_CUSTOM_NODES_DIR'], join(userDataDir, 'data', 'custom_nodes')),
    presetsDir: folder(env['CODEFYUI_PRESETS_DIR'], join(userDataDir, 'data', 'presets')),
    extraAllowedHosts: (env['CODEFYUI_EXTRA_ALLOWED_HOSTS'] ?? '')
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter((entry) => entry !== ''),
  };
}

function folder(value: string | undefined, fallback: string): string {
  if (value === undefined || value.trim() === '') return fallback;
  return isAbsolute(value) ? value : resolve(value);
}

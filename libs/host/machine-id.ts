import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DEADLINE_MS = 5_000;
/** The second is older systems'. */
const LINUX_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/**
 * What names this machine to others: SHA-256, in hex, of the system's own identity (Linux's machine-id, the hardware UUID of a Mac, the
 * machine GUID of Windows), which itself is nobody's business. Null where the system does not tell. Two containers made from one image
 * may share it, and a virtual machine that was cloned: it is a hint, never a proof.
 */
export async function machineId(): Promise<string | null> {
  const identity = await systemIdentity();
  return identity === null ? null : createHash('sha256').update(identity).digest('hex');
}

async function systemIdentity(): Promise<string | null> {
  switch (process.platform) {
    case 'linux':
      return linuxIdentity();
    case 'darwin':
      return parseIoreg(await output('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']));
    case 'win32': {
      const reg = join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'reg.exe');
      // The view is named: a 32-bit program is shown another part of the registry, which lacks the value.
      return parseRegQuery(
        await output(reg, ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64']),
      );
    }
    default:
      return null;
  }
}

/** The first of the files that holds an identity. */
export async function linuxIdentity(files: readonly string[] = LINUX_FILES): Promise<string | null> {
  for (const file of files) {
    const identity = parseMachineId(await readFile(file, 'utf8').catch(() => ''));
    if (identity !== null) return identity;
  }
  return null;
}

/** Of a machine-id file; null for an empty one, and for `uninitialized` and all zeros, which stand in images until the first boot. */
export function parseMachineId(text: string): string | null {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : null;
}

/** Of `ioreg -rd1 -c IOPlatformExpertDevice`. */
export function parseIoreg(text: string): string | null {
  return uuid(/"IOPlatformUUID" = "([^"]+)"/.exec(text)?.[1]);
}

/** Of `reg query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid`. */
export function parseRegQuery(text: string): string | null {
  return uuid(/^\s*MachineGuid\s+REG_SZ\s+(\S+)\s*$/m.exec(text)?.[1]);
}

/** In one spelling, whatever the system's. */
function uuid(text: string | undefined): string | null {
  const lower = text?.toLowerCase() ?? '';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower) ? lower : null;
}

async function output(program: string, parameters: readonly string[]): Promise<string> {
  try {
    return (await run(program, parameters, { timeout: DEADLINE_MS, windowsHide: true })).stdout;
  } catch {
    return '';
  }
}

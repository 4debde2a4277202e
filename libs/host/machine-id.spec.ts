import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linuxIdentity, machineId, parseIoreg, parseMachineId, parseRegQuery } from './machine-id';

const ID = '4c4c4544004d3510804eb7c04f595031';

it('is the digest of what the system calls the machine', async () => {
  const file = ['/etc/machine-id', '/var/lib/dbus/machine-id'].find((path) => existsSync(path));
  const text = file === undefined ? '' : readFileSync(file, 'utf8').trim();
  const expected = /^[0-9a-f]{32}$/.test(text) ? createHash('sha256').update(text).digest('hex') : null;
  if (process.platform === 'linux') expect(await machineId()).toBe(expected);
  else expect(await machineId()).toMatch(/^[0-9a-f]{64}$/);
});

it('falls back to the older place, and is unknown where neither says anything', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-machine-'));
  try {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    expect(await linuxIdentity([first, second])).toBeNull();
    writeFileSync(second, `${ID}\n`);
    expect(await linuxIdentity([first, second])).toBe(ID);
    writeFileSync(first, 'uninitialized\n');
    expect(await linuxIdentity([first, second])).toBe(ID);
    writeFileSync(first, 'ffffffffffffffffffffffffffffffff');
    expect(await linuxIdentity([first, second])).toBe('ffffffffffffffffffffffffffffffff');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('takes no identity from an image that was never booted', () => {
  expect(parseMachineId(`${ID.toUpperCase()}\n`)).toBe(ID);
  for (const none of ['', '\n', 'uninitialized\n', '0'.repeat(32), ID.slice(1), `${ID}0`]) {
    expect(parseMachineId(none)).toBeNull();
  }
});

it('reads the hardware UUID of a Mac', () => {
  const text = `+-o J314sAP  <class IOPlatformExpertDevice, id 0x100000256, registered, matched, active, busy 0 (213 ms), retain 38>
    {
      "IOPolledInterface" = "AppleARMWatchdogTimerHibernateHandler is not serializable"
      "manufacturer" = <"Apple Inc.">
      "IOPlatformSerialNumber" = "XXXXXXXXXX"
      "IOPlatformUUID" = "0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9"
      "model" = <"MacBookPro18,3">
    }
`;
  expect(parseIoreg(text)).toBe('0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9');
  expect(parseIoreg(text.replace(/"0A1B[^"]+"/, '""'))).toBeNull();
  expect(parseIoreg('')).toBeNull();
});

it('reads the machine GUID of Windows', () => {
  const text =
    '\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n' +
    '    MachineGuid    REG_SZ    9F2C6D1E-7a3b-4c5d-8e9f-0123456789ab\r\n\r\n';
  expect(parseRegQuery(text)).toBe('9f2c6d1e-7a3b-4c5d-8e9f-0123456789ab');
  expect(parseRegQuery('ERROR: The system was unable to find the specified registry key or value.\r\n')).toBeNull();
});

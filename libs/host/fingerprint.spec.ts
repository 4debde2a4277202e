import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fingerprintOf, MachineFingerprint } from './fingerprint';
import { programVersion } from './program-version';

describe('MachineFingerprint', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fingerprint-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

  it('names the program, the computer, what computes and the devices', () => {
    const document = new MachineFingerprint({ customNodes: null, devices: ['cpu'] }).document({ kind: 'onnx' });
    expect(document).toMatchObject({
      node: process.version,
      version: programVersion(),
      os: { platform: process.platform, arch: process.arch },
      runtime: { kind: 'onnx' },
      custom_nodes: {},
      devices: ['cpu'],
    });
  });

  it('holds a hash of every custom node file, and follows its changes', () => {
    writeFileSync(join(folder, 'b.ts'), 'two');
    writeFileSync(join(folder, 'a.js'), 'one');
    writeFileSync(join(folder, 'notes.md'), 'no code');
    mkdirSync(join(folder, 'folder.js'));
    const machine = new MachineFingerprint({ customNodes: folder, devices: [] });
    expect(machine.document(null)['custom_nodes']).toEqual({ 'a.js': sha256('one'), 'b.ts': sha256('two') });
    writeFileSync(join(folder, 'a.js'), 'another');
    rmSync(join(folder, 'b.ts'));
    expect(machine.document(null)['custom_nodes']).toEqual({ 'a.js': sha256('another') });
  });

  it('has no custom nodes where the folder is missing', () => {
    const machine = new MachineFingerprint({ customNodes: join(folder, 'none'), devices: [] });
    expect(machine.document(null)['custom_nodes']).toEqual({});
  });
});

describe('fingerprintOf', () => {
  it('is the same whatever the order of the members', () => {
    expect(fingerprintOf({ b: [1], a: { d: 2, c: 3 } })).toEqual(fingerprintOf({ a: { c: 3, d: 2 }, b: [1] }));
    expect(fingerprintOf({ a: 1 }).document).toBe('{"a":1}');
    expect(fingerprintOf({ a: 1 }).digest).toBe(sha('{"a":1}'));
    expect(fingerprintOf({ a: 2 }).digest).not.toBe(fingerprintOf({ a: 1 }).digest);
  });
});

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

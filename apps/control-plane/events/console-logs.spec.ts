import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import { systemClock } from '../system/world';
import type { LogPart } from './console-logs';
import { FileConsoleLogs } from './file-console-logs';

const MAX = 64 * 1024;
let folder: string;
let logs: FileConsoleLogs;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'cdui-console-')), 'logs');
  logs = new FileConsoleLogs(folder, MAX, systemClock);
});
afterEach(async () => {
  await logs.flush();
  rmSync(join(folder, '..'), { recursive: true });
});

/** All parts from an offset on, as a reader gets them that follows the offsets it is given. */
async function parts(runId: string, offset = 0, limit = 10_000): Promise<LogPart[]> {
  const all: LogPart[] = [];
  for (;;) {
    const part = await logs.read(runId, offset, limit);
    if (part.bytes.length === 0) return all;
    all.push(part);
    offset = part.offset + part.bytes.length;
  }
}

async function text(runId: string, offset = 0): Promise<string> {
  return Buffer.concat((await parts(runId, offset)).map(({ bytes }) => bytes)).toString();
}

const onDisk = (): number => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

describe('console logs', () => {
  it('give back what was printed, from any offset', async () => {
    logs.append('r', 'first ünd\n');
    logs.append('r', 'second\n');
    logs.append('other', 'not mine\n');
    await logs.close('r');
    expect(await text('r')).toBe('first ünd\nsecond\n');
    expect(await logs.read('r', 6, 3)).toEqual({ offset: 6, bytes: Buffer.from('ün'), size: 18 });
    expect(await logs.read('r', 18, 10)).toEqual({ offset: 18, bytes: Buffer.alloc(0), size: 18 });
    expect(await logs.read('silent', 0, 10)).toEqual({ offset: 0, bytes: Buffer.alloc(0), size: 0 });
  });

  it('keep the beginning and the end of a long log within the bound, cut between lines', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}: ü${'x'.repeat(i % 40)}\n`);
    for (const [index, line] of lines.entries()) {
      logs.append('r', line);
      if (index % 500 === 0) await logs.flush();
    }
    await logs.close('r');
    expect(onDisk()).toBeLessThanOrEqual(MAX * 1.15);
    const all = await parts('r');
    const kept = Buffer.concat(all.map(({ bytes }) => bytes)).toString();
    expect(kept.startsWith(lines.slice(0, 300).join(''))).toBe(true);
    expect(kept.endsWith(lines.slice(-800).join(''))).toBe(true);
    expect(kept.split('\n').filter((line) => line !== '' && !lines.includes(`${line}\n`))).toEqual([]);
    const whole = Buffer.from(lines.join(''));
    for (const { offset, bytes, size } of all) {
      expect(bytes.equals(whole.subarray(offset, offset + bytes.length))).toBe(true);
      expect(size).toBe(whole.length);
    }
  });

  it('are the same for whoever opens them later, and go on where they ended', async () => {
    for (let i = 0; i < 3000; i++) logs.append('r', `line ${i} ${'y'.repeat(30)}\n`);
    await logs.close('r');
    const before = await text('r');
    logs = new FileConsoleLogs(folder, MAX, systemClock);
    expect(await text('r')).toBe(before);
    const { size } = await logs.read('r', 0, 1);
    logs.append('r', 'after the restart\n');
    await logs.close('r');
    expect(await text('r', size)).toBe('after the restart\n');
    expect((await logs.search('r', 'RESTART', 5)).matches).toEqual([
      { offset: size, line: 3001, text: 'after the restart' },
    ]);
  });

  it('are bounded, whole at both ends and honest about offsets, whatever is printed', async () => {
    const printed = fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(printed, fc.integer({ min: 64, max: 2000 }), async (texts, max) => {
        const small = new FileConsoleLogs(folder, max, systemClock);
        for (const [index, one] of texts.entries()) {
          small.append('p', one);
          if (index % 7 === 0) await small.flush();
        }
        await small.close('p');
        const whole = Buffer.from(texts.join(''));
        let offset = 0;
        for (;;) {
          const part = await small.read('p', offset, 50);
          expect(part.size).toBe(whole.length);
          if (part.bytes.length === 0) break;
          expect(part.bytes.equals(whole.subarray(part.offset, part.offset + part.bytes.length))).toBe(true);
          if (part.offset > offset) expect(whole[part.offset]! & 0xc0).not.toBe(0x80);
          offset = part.offset + part.bytes.length;
        }
        expect(offset).toBe(whole.length);
        await small.delete('p');
        expect(readdirSync(folder).filter((name) => name.startsWith('p'))).toEqual([]);
      }),
      { numRuns: times(40, 500) },
    );
  });

  it('wake up who waits when something is printed or the log is closed', async () => {
    const printed = logs.wait('r', 0, 60_000);
    logs.append('r', 'x');
    await printed;
    await logs.wait('r', 0, 60_000);
    const closed = logs.wait('r', 1, 60_000);
    await logs.close('r');
    await closed;
    await logs.wait('r', 1, 60_000);
    const controller = new AbortController();
    const aborted = logs.wait('new', 0, 60_000, controller.signal);
    controller.abort();
    await aborted;
  });

  it('find lines by their text, case aside, with line and offset', async () => {
    for (let i = 1; i <= 200; i++) logs.append('r', i % 50 === 0 ? `Epoch ${i} löss\n` : `step ${i}\n`);
    logs.append('r', 'epoch without an end');
    await logs.close('r');
    const { matches, truncated } = await logs.search('r', 'EPOCH', 10);
    expect(matches.map(({ line, text: shown }) => `${line} ${shown}`)).toEqual([
      '50 Epoch 50 löss',
      '100 Epoch 100 löss',
      '150 Epoch 150 löss',
      '200 Epoch 200 löss',
      '201 epoch without an end',
    ]);
    expect(truncated).toBe(false);
    for (const { offset, text: shown } of matches) {
      expect((await logs.read('r', offset, Buffer.byteLength(shown))).bytes.toString()).toBe(shown);
    }
    expect(await logs.search('r', 'epoch', 2)).toMatchObject({
      matches: [{ line: 50 }, { line: 100 }],
      truncated: true,
    });
    expect(await logs.search('r', 'nowhere', 2)).toEqual({ matches: [], truncated: false });
  });

  it('count lines over what was dropped', async () => {
    for (let i = 1; i <= 10_000; i++) logs.append('r', `line number ${i}\n`);
    await logs.close('r');
    expect((await logs.search('r', 'number 9999', 10)).matches).toMatchObject([{ line: 9999 }]);
    expect((await logs.search('r', 'number 5000', 10)).matches).toEqual([]);
  });

  it('cut what is shown of a very long line around the text', async () => {
    logs.append('r', `${'a'.repeat(5000)}NEEDLE${'b'.repeat(5000)}\n`);
    await logs.close('r');
    const { matches } = await logs.search('r', 'needle', 10);
    expect(matches[0]!.text).toContain('NEEDLE');
    expect(matches[0]!.text.length).toBeLessThanOrEqual(500);
  });

  it('are never written outside of their folder', async () => {
    for (const id of ['../up', 'a/b', '..', '', 'x'.repeat(200)]) {
      logs.append(id, 'x');
      await logs.wait(id, 0, 60_000);
      expect((await logs.read(id, 0, 10)).bytes.length).toBe(0);
      await logs.delete(id);
    }
    await logs.flush();
    expect(readdirSync(join(folder, '..'))).toEqual([]);
  });

  it.each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
    ['a link', (path: string) => symlinkSync('../outside', path)],
    ['a link to itself', (path: string) => symlinkSync('r.log', path)],
  ])('hold nothing where %s has their name', async (_what, make) => {
    mkdirSync(folder);
    writeFileSync(join(folder, '..', 'outside'), 'outside');
    make(join(folder, 'r.log'));
    const empty = { offset: 0, bytes: Buffer.alloc(0), size: 0 };
    for (let i = 0; i < 6; i++) expect(await logs.read('r', 0, 10)).toEqual(empty);
    expect(await logs.search('r', 'out', 5)).toEqual({ matches: [], truncated: false });
    logs.append('r', 'lost');
    await logs.close('r');
    expect(readFileSync(join(folder, '..', 'outside'), 'utf8')).toBe('outside');
    await logs.delete('r');
  });

  it('go on when the files cannot be written', async () => {
    writeFileSync(folder, 'a file where the folder should be');
    logs.append('r', 'lost');
    await logs.close('r');
    rmSync(folder);
    logs.append('r', 'kept');
    await logs.close('r');
    expect(await text('r')).toBe('kept');
  });
});

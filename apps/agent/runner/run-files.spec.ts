import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { newCookie, readCookie, removeCookie, writeCookie } from './cookie-file';
import { tailOf } from './log-tail';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('tailOf', () => {
  const file = (text: string): string => {
    writeFileSync(join(folder, 'output.log'), text);
    return join(folder, 'output.log');
  };

  it('is the whole of a short text, and the end of a long one', () => {
    expect(tailOf(file('short'), 10)).toBe('short');
    expect(tailOf(file(`${'x'.repeat(5000)}end`), 3)).toBe('end');
    expect(tailOf(file(''), 3)).toBe('');
  });

  it('never begins inside a character, and leaves out no more than the one that is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-composite', maxLength: 40 }), fc.nat(60), (text, bytes) => {
        const tail = tailOf(file(text), bytes);
        expect(text.endsWith(tail)).toBe(true);
        expect(tail).not.toContain('\ufffd');
        const whole = Math.min(bytes, Buffer.byteLength(text));
        expect(whole - Buffer.byteLength(tail)).toBeLessThan(4);
      }),
    );
  });

  it('is empty where there is no file', () => {
    expect(tailOf(join(folder, 'none'), 10)).toBe('');
  });
});

describe('a cookie’s file', () => {
  const cookie = { cookie: newCookie(), pid: 12, start_time: '345', attempt: 2 };

  it('is read as it was written, only by its owner, and leaves nothing else behind', () => {
    writeCookie(folder, { ...cookie, pid: null });
    writeCookie(folder, cookie);
    expect(readCookie(folder)).toEqual(cookie);
    expect(statSync(join(folder, 'cookie.json')).mode & 0o777).toBe(0o600);
    removeCookie(folder, 'of an earlier attempt');
    expect(readCookie(folder)).toEqual(cookie);
    removeCookie(folder, cookie.cookie);
    removeCookie(folder, cookie.cookie);
    expect(readdirSync(folder)).toEqual([]);
    expect(readCookie(folder)).toBeNull();
  });

  it('is none when it holds something else', () => {
    for (const text of ['', '{"cookie":', '[]', '{"cookie":1}', 'null']) {
      writeFileSync(join(folder, 'cookie.json'), text);
      expect(readCookie(folder)).toBeNull();
    }
  });

  it('marks every process tree with a text of its own, of 128 bits', () => {
    expect(newCookie()).toMatch(/^[0-9a-f]{32}$/);
    expect(newCookie()).not.toBe(newCookie());
  });
});

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsoleFrame } from '@cdui/protocol';
import * as fc from 'fast-check';
import { ConsoleTails } from './console-tails';
import { wholeCharacters } from './utf8';

let folder: string;
let tails: ConsoleTails;
let frames: ConsoleFrame[];
let flows: boolean;
let wake: () => void;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-console-'));
  frames = [];
  flows = true;
  wake = () => undefined;
  tails = new ConsoleTails((runId) => join(folder, runId));
  tails.connect((frame) => {
    frames.push(frame);
    wake();
    return flows;
  });
});
afterEach(() => {
  tails.disconnect();
  rmSync(folder, { recursive: true, force: true });
});

const text = (): string => frames.map((frame) => frame.text).join('');
async function until(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise<void>((resolve) => (wake = resolve));
}
const print = (what: string | Buffer): void => appendFileSync(join(folder, 'run'), what);

describe('what a run prints', () => {
  it('is sent from where it was asked for, as it comes, in parts that say where they belong', async () => {
    print('0123456789');
    tails.follow('run', 3, 4);
    await until(() => text() === '456789');
    expect(frames).toEqual([{ type: 'console', run_id: 'run', attempt: 3, offset: 4, bytes: 6, text: '456789' }]);
    print('x'.repeat(200_000));
    await until(() => text().length === 200_006);
    expect(Math.max(...frames.map(({ bytes }) => bytes))).toBeLessThanOrEqual(64 * 1024);
    let next = 4;
    for (const { offset, bytes } of frames) {
      expect(offset).toBe(next);
      next += bytes;
    }
  });

  it('is never cut within a character', async () => {
    const euro = Buffer.from('€');
    print(Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]));
    tails.follow('run', 1, 0);
    await until(() => text() === 'a');
    print(euro.subarray(2));
    await until(() => text() === 'a€');
    expect(frames.map(({ bytes }) => bytes)).toEqual([1, 3]);
  });

  it('is sent to the last byte when the run is over, a broken character included', async () => {
    print(Buffer.from([0x61, 0xe2, 0x82]));
    tails.follow('run', 1, 0);
    await until(() => text() === 'a');
    await tails.over('run');
    expect(frames).toHaveLength(2);
    expect(frames.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(3);
  });

  it('waits while the connection takes no more', async () => {
    flows = false;
    print('x'.repeat(100_000));
    tails.follow('run', 1, 0);
    await until(() => frames.length === 1);
    print('y');
    flows = true;
    tails.look();
    await until(() => text().length === 100_001);
  });

  it('is found when its file comes later, at the next look', async () => {
    tails.follow('run', 1, 0);
    writeFileSync(join(folder, 'run'), 'late');
    tails.look();
    await until(() => text() === 'late');
  });

  it('is not sent after the connection, nor from the old place after a new one was asked for', async () => {
    print('abc');
    tails.follow('run', 1, 0);
    tails.follow('run', 1, 2);
    await until(() => frames.length === 1);
    expect(text()).toBe('c');
    tails.disconnect();
    const other: ConsoleFrame[] = [];
    tails.connect((frame) => other.push(frame) > 0);
    tails.look();
    expect(other).toEqual([]);
  });
});

it('whole characters are found at the end of any bytes, and broken ones hold nothing up', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (all, cut) => {
      const bytes = Buffer.from(all);
      const part = bytes.subarray(0, cut % (bytes.length + 1));
      const whole = wholeCharacters(part);
      expect(part.subarray(0, whole).toString()).not.toContain('\uFFFD');
      expect(part.length - whole).toBeLessThan(4);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4 }), (bytes) => {
      expect(wholeCharacters(bytes)).toBeGreaterThanOrEqual(bytes.length - 3);
    }),
  );
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { expectClose } from '../testing/close-to';
import type { TensorResult } from '../testing/run-node';
import { NodeRunner, tensor } from '../testing/run-node';
import { graphInput } from './graph-input';

let runner: NodeRunner;
let root: string;
let images: string;
beforeAll(async () => {
  runner = await NodeRunner.open();
  root = mkdtempSync(join(tmpdir(), 'cdui-images-'));
  images = join(root, 'images');
  mkdirSync(images);
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await runner.close();
});

const receive = async (params: Record<string, unknown>): Promise<unknown> =>
  (await runner.runNode('GraphInput', { params, folders: { images } })).outputs['value'];

/** Two pixels: red and half-transparent dark green. */
const png = (): Buffer => {
  const image = new PNG({ width: 2, height: 1 });
  image.data.set([255, 0, 0, 255, 0, 51, 0, 128]);
  return PNG.sync.write(image);
};
const PIXELS = [[[1, 0]], [[0, 0.2]], [[0, 0]]];

describe('GraphInput', () => {
  it.each<[string, unknown, unknown]>([
    ['string', 'text', 'text'],
    ['string', '', ''],
    ['number', 2.5, 2.5],
    ['integer', 3.0, 3],
    ['boolean', false, false],
    ['json', { a: [1, null] }, { a: [1, null] }],
    ['json', null, null],
  ])('GraphInput takes the value of the caller over the default: %s %p', async (type, value, expected) => {
    expect(await receive({ type, value, default: '9' })).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['string', 5],
    ['number', '5'],
    ['number', true],
    ['integer', 2.5],
    ['integer', '3'],
    ['boolean', 1],
    ['boolean', 'true'],
    ['image', 5],
    ['image', Buffer.from('not an image').toString('base64')],
  ])('is strict: %s does not take %p', async (type, value) => {
    await expect(receive({ type, value })).rejects.toMatchObject({ code: 'invalid_param' });
  });

  it('parses the default when nobody calls', async () => {
    expect(await receive({ type: 'string', default: 'abc' })).toBe('abc');
    expect(await receive({ type: 'number', default: '2.5' })).toBe(2.5);
    expect(await receive({ type: 'integer', default: '7' })).toBe(7);
    expect(await receive({ type: 'boolean', default: 'True' })).toBe(true);
    expect(await receive({ type: 'json', default: '[1, 2]' })).toEqual([1, 2]);
    expect(await receive({ type: 'number', default: '', required: false })).toBeNull();
    for (const [type, text] of [
      ['number', 'x'],
      ['integer', '1.5'],
      ['boolean', 'yes'],
      ['json', '{'],
      ['number', ''],
      ['image', ''],
    ]) {
      await expect(receive({ type, default: text })).rejects.toMatchObject({
        code: 'invalid_param',
        params: { param: 'default' },
      });
    }
  });

  it('decodes images of the caller to RGB from 0 to 1', async () => {
    for (const value of [png().toString('base64'), `data:image/png;base64,${png().toString('base64')}`]) {
      const image = (await receive({ type: 'image', value })) as TensorResult;
      expect([image.shape, image.dtype]).toEqual([[3, 1, 2], 'float32']);
      expectClose(image.values, PIXELS);
    }
  });

  it('reads a default image from the image folder, and from nowhere else', async () => {
    writeFileSync(join(images, 'two.png'), png());
    expectClose(((await receive({ type: 'image', default: 'two.png' })) as TensorResult).values, PIXELS);
    expectClose(((await receive({ type: 'image', default: join(images, 'two.png') })) as TensorResult).values, PIXELS);
    writeFileSync(join(root, 'outside.png'), png());
    symlinkSync(join(root, 'outside.png'), join(images, 'link.png'));
    for (const path of ['../outside.png', join(root, 'outside.png'), 'link.png', '../absent.png']) {
      await expect(receive({ type: 'image', default: path })).rejects.toThrow(/must name a file inside/);
    }
    for (const path of ['absent.png', '.']) {
      await expect(receive({ type: 'image', default: path })).rejects.toThrow(/must name a file that exists/);
    }
  });

  it('refuses a huge image before it unpacks it', async () => {
    const bytes = png();
    bytes.writeUInt32BE(100_000, 16);
    bytes.writeUInt32BE(100_000, 20);
    await expect(receive({ type: 'image', value: bytes.toString('base64') })).rejects.toThrow(
      /at most 25000000 pixels/,
    );
  });

  it('names the file that its output depends on', () => {
    const folders = { images } as Parameters<NonNullable<typeof graphInput.files>>[1];
    expect(graphInput.files?.({ type: 'image', default: 'a.png' }, folders)).toEqual([join(images, 'a.png')]);
    expect(graphInput.files?.({ type: 'image', default: 'a.png', value: 'x' }, folders)).toEqual([]);
    expect(graphInput.files?.({ type: 'string', default: 'a.png' }, folders)).toEqual([]);
  });
});

describe('GraphOutput', () => {
  it('GraphOutput takes any value and has no outputs', async () => {
    expect((await runner.runNode('GraphOutput', { inputs: { value: tensor([1]) } })).outputs).toEqual({});
    expect((await runner.runNode('GraphOutput', { inputs: { value: null } })).outputs).toEqual({});
  });
});

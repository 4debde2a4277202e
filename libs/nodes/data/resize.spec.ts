import golden from './golden/resize.json';
import { resizePlanes } from './resize';

describe('resizePlanes', () => {
  it.each(golden.cases.map((entry) => [`${entry.height}x${entry.width} to ${entry.size}`, entry] as const))(
    'gives the bytes of Pillow: %s',
    (_, { height, width, size, pixels, resized }) => {
      expect(Array.from(resizePlanes(Uint8Array.from(pixels), 1, height, width, size))).toEqual(resized);
    },
  );

  it('keeps planes apart', () => {
    const [first, second] = [golden.cases[0]!, golden.cases[1]!];
    const both = Uint8Array.from([...first.pixels, ...second.pixels]);
    const apart = [first, second].flatMap(({ pixels }) =>
      Array.from(resizePlanes(Uint8Array.from(pixels), 1, 28, 28, 14)),
    );
    expect(Array.from(resizePlanes(both, 2, 28, 28, 14))).toEqual(apart);
  });
});

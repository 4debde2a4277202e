import { deriveSeed } from './seeds';

describe('deriveSeed', () => {
  // int.from_bytes(hashlib.blake2b(f"{seed}\0{label}".encode(), digest_size=8).digest(), "big") % 2**32
  it.each([
    [0, 'n1', 3741935519],
    [42, 'conv1', 517123169],
    [4294967295, 'dataloader:loader', 2319248773],
    [7, 'enc/fc', 888438377],
    [1234, 'größe', 2113803380],
  ])('gives what Python gives for seed %d and label %s', (seed, label, expected) => {
    expect(deriveSeed(seed, label)).toBe(expected);
  });
});

import { blake2b } from '@noble/hashes/blake2b';

/**
 * The seed of one part of a run: the first 8 bytes, big-endian, of BLAKE2b (digest size 8) over `"<seed>\0<label>"`, mod 2^32. Parts that
 * run side by side, or in another order, therefore draw the same numbers.
 *
 * @param seed the run's seed, 0 ... 2^32-1
 * @param label a node's id, or `dataloader:<node id>`
 */
export function deriveSeed(seed: number, label: string): number {
  const digest = blake2b(new TextEncoder().encode(`${seed}\0${label}`), { dkLen: 8 });
  // Big-endian mod 2^32: the last four of the eight bytes.
  return new DataView(digest.buffer, digest.byteOffset, digest.byteLength).getUint32(4);
}

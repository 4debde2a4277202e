/** How many of the bytes are whole characters of UTF-8: those of one that has begun at the end are left. Broken ones count as whole. */
export function wholeCharacters(bytes: Uint8Array): number {
  // A character has four bytes at most; its first one says how many.
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

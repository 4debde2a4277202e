import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';

const PREFIX = 4;

/** Messages over a byte stream: u32 LE length, then the message serialised, so that nothing is shared between the two ends. */
export function writeMessage(stream: Duplex, message: unknown): void {
  const body = serialize(message);
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32LE(body.byteLength);
  stream.write(Buffer.concat([prefix, body]));
}

/** Calls `receive` for each whole message. */
export function readMessages(stream: Duplex, receive: (message: unknown) => void): void {
  let chunks: Buffer[] = [];
  let waiting = 0;
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    waiting += chunk.byteLength;
    while (waiting >= PREFIX) {
      if (chunks[0]!.byteLength < PREFIX) chunks = [Buffer.concat(chunks)];
      const total = PREFIX + chunks[0]!.readUInt32LE();
      if (waiting < total) return;
      const all = Buffer.concat(chunks);
      // A copy of its own: views into a received buffer would keep all of it alive.
      receive(ownViews(deserialize(all.subarray(PREFIX, total))));
      chunks = [all.subarray(total)];
      waiting -= total;
    }
  });
}

/** The value with every typed array copied into a buffer of its own. */
function ownViews(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as ArrayBufferView & { slice(): ArrayBufferView }).slice();
  if (Array.isArray(value)) return value.map(ownViews);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, ownViews(member)]));
  }
  return value;
}

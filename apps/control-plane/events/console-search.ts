import { openPlain } from '@cdui/host';
import type { LogMatch } from '@cdui/protocol';
import type { Segment } from './console-file';

/** What is shown of a line that matches, and what is looked at of a line without an end. */
const SHOWN_CHARACTERS = 500;
const LONGEST_LINE = 64 * 1024;

/** Lines that hold the text, case aside; at most `limit` of them. The files are streamed: a log of any size costs one line of memory. */
export async function searchSegments(
  segments: readonly Segment[],
  text: string,
  limit: number,
): Promise<{ readonly matches: readonly LogMatch[]; readonly truncated: boolean }> {
  const wanted = text.toLowerCase();
  const matches: LogMatch[] = [];
  for await (const { offset, line, bytes } of lines(segments)) {
    const content = bytes.toString('utf8');
    const at = content.toLowerCase().indexOf(wanted);
    if (at === -1) continue;
    if (matches.length === limit) return { matches, truncated: true };
    const from = Math.max(0, Math.min(at - 100, content.length - SHOWN_CHARACTERS));
    matches.push({ offset, line, text: content.slice(from, from + SHOWN_CHARACTERS) });
  }
  return { matches, truncated: false };
}

interface Line {
  readonly offset: number;
  readonly line: number;
  readonly bytes: Buffer;
}

/** The lines of all files. A line goes on from one file to the next, but not over what was dropped between them. */
async function* lines(segments: readonly Segment[]): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let [offset, line] = [0, 1];
  for (const segment of segments) {
    if (segment.offset !== offset + rest.length) {
      if (rest.length > 0) yield { offset, line, bytes: rest };
      rest = Buffer.alloc(0);
      [offset, line] = [segment.offset, segment.line];
    }
    if (segment.size === 0) continue;
    const file = await openPlain(segment.path);
    for await (const chunk of file.createReadStream({ end: segment.size - 1 })) {
      let bytes = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer);
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10)) {
        yield { offset, line, bytes: bytes.subarray(0, end) };
        offset += end + 1;
        line += 1;
        bytes = bytes.subarray(end + 1);
      }
      while (bytes.length > LONGEST_LINE) {
        yield { offset, line, bytes: bytes.subarray(0, LONGEST_LINE) };
        offset += LONGEST_LINE;
        bytes = bytes.subarray(LONGEST_LINE);
      }
      rest = bytes;
    }
  }
  if (rest.length > 0) yield { offset, line, bytes: rest };
}

import { StringDecoder } from 'node:string_decoder';

const LINE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\w+) +(.*)$/;

/** Lines of an agent's log as JSON lines of `time`, `level` and `message`; the first two are null of what is no line of it, such as a stack. */
export class LogJson {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  /** @returns JSON lines of the lines that are whole by now */
  push(bytes: Buffer): string {
    const lines = (this.rest + this.decoder.write(bytes)).split('\n');
    this.rest = lines.pop() ?? '';
    return lines.map(jsonLine).join('');
  }
}

function jsonLine(line: string): string {
  const [, time = null, level = null, message = line] = LINE.exec(line) ?? [];
  return `${JSON.stringify({ time, level, message })}\n`;
}

/** A line of a console log. */
export interface LogLine {
  /** Where its first byte stands in the log. */
  readonly offset: number;
  readonly text: string;
}

/** Makes lines of the bytes of a log, wherever those are cut; what follows on a gap begins a line of its own. */
export class LogLines {
  private rest: Buffer = Buffer.alloc(0);
  private offset = 0;

  /** The lines that are whole with these bytes. */
  add(bytes: Uint8Array, offset: number): readonly LogLine[] {
    const lines = offset === this.offset + this.rest.length ? [] : this.end();
    if (this.rest.length === 0) this.offset = offset;
    let text = Buffer.concat([this.rest, bytes]);
    for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10)) {
      lines.push({ offset: this.offset, text: text.toString('utf8', 0, at) });
      this.offset += at + 1;
      text = text.subarray(at + 1);
    }
    this.rest = text;
    return lines;
  }

  /** What is left when nothing more comes: a line without an end. */
  end(): LogLine[] {
    if (this.rest.length === 0) return [];
    const line = { offset: this.offset, text: this.rest.toString('utf8') };
    this.offset += this.rest.length;
    this.rest = Buffer.alloc(0);
    return [line];
  }
}

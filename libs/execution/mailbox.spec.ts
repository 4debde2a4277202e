import { Mailbox } from './mailbox';

describe('Mailbox', () => {
  it('handles at once what needs no waiting', () => {
    const seen: number[] = [];
    const mailbox = new Mailbox<number>((input) => void seen.push(input));
    mailbox.post(1);
    mailbox.post(2);
    expect(seen).toEqual([1, 2]);
  });

  it('waits for one before it begins the next', async () => {
    const seen: string[] = [];
    const gates: (() => void)[] = [];
    const mailbox = new Mailbox<string>((input) => {
      seen.push(`begin ${input}`);
      return new Promise<void>((resolve) => gates.push(resolve)).then(() => void seen.push(`end ${input}`));
    });
    mailbox.post('a');
    mailbox.post('b');
    expect(seen).toEqual(['begin a']);
    gates[0]!();
    await new Promise(setImmediate);
    expect(seen).toEqual(['begin a', 'end a', 'begin b']);
  });

  it('keeps the order of what a handler itself posts', () => {
    const seen: number[] = [];
    const mailbox: Mailbox<number> = new Mailbox<number>((input) => {
      if (input === 1) mailbox.post(3);
      seen.push(input);
    });
    mailbox.post(1);
    mailbox.post(2);
    expect(seen).toEqual([1, 3, 2]);
  });
});

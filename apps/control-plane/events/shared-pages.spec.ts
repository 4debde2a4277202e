import type { EventPage } from '@cdui/execution';
import { storedEvent } from '@cdui/execution/testing/samples';
import { SharedPages } from './shared-pages';

function page(length: number, size = 10): EventPage {
  const events = Array.from({ length }, (_, i) => storedEvent(i + 1, 'x'.repeat(size)));
  return { events, cursor: length };
}

describe('shared pages', () => {
  it('are read once for all who ask at the same time, and kept', async () => {
    const pages = new SharedPages();
    const read = jest.fn(() => Promise.resolve(page(3)));
    const both = await Promise.all([pages.page('r 0', read), pages.page('r 0', read)]);
    expect(both[0]).toBe(both[1]);
    await pages.page('r 0', read);
    expect(read).toHaveBeenCalledTimes(1);
    pages.forget('r');
    await pages.page('r 0', read);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('are read anew after a failure', async () => {
    const pages = new SharedPages();
    await expect(pages.page('r 0', () => Promise.reject(new Error('busy')))).rejects.toThrow('busy');
    expect(await pages.page('r 0', () => Promise.resolve(page(2)))).toEqual(page(2));
  });

  it('are few', async () => {
    const pages = new SharedPages();
    const large = jest.fn(() => Promise.resolve(page(1, 1024 * 1024)));
    for (let i = 0; i < 40; i++) await pages.page(`r ${i}`, large);
    await pages.page('r 39', large);
    expect(large).toHaveBeenCalledTimes(40);
    await pages.page('r 0', large);
    expect(large).toHaveBeenCalledTimes(41);
  });
});

import { checkMove } from './run-move';

describe('checkMove', () => {
  it('takes the id of a run or a position', () => {
    expect([checkMove({ before: 'a1' }), checkMove({ before: 3 })]).toEqual(['a1', 3]);
  });

  it.each([
    ['', null],
    ['', 'x'],
    ['before', {}],
    ['before', { before: '' }],
    ['before', { before: 0 }],
    ['before', { before: 1.5 }],
    ['before', { before: 1e9 }],
    ['before', { before: [1] }],
    ['after', { before: 1, after: 2 }],
  ])('names the field "%s" of %j', (field, body) => {
    expect(() => checkMove(body)).toThrow(
      expect.objectContaining({ code: 'invalid_body', params: expect.objectContaining({ field }) as unknown }),
    );
  });
});

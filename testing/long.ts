/** Whether the full numbers of iterations are wanted (`npm run test:long`). */
export const LONG = process.env['CDUI_TEST_LONG'] === '1';

/** How often to repeat something: few times in every run, often in the long one. */
export function times(usual: number, long: number): number {
  return LONG ? long : usual;
}

import { recordedOutcome, recordedRun } from '../testing/recorded-run';
import { JsonView } from './json-view';
import { TextView } from './text-view';
import type { FileFacts } from './view';

const ESCAPE = '\u001B';
const GREEN = `${ESCAPE}[32m`;
const facts: FileFacts = { file: 'a.json', name: 'A', nodes: 3, edges: 2, planned: 3 };
const issue = { message: 'No', code: 'cycle', node_id: 'a', params: {} } as const;

describe('TextView', () => {
  function show(isTTY: boolean, env: Record<string, string> = {}): string {
    let text = '';
    const view = new TextView({ screen: { isTTY, columns: 80, write: (part) => (text += part) }, env, verbose: false });
    view.checked(facts, [], []);
    for (const message of recordedRun) view.message(message);
    view.finished(recordedOutcome);
    return text;
  }

  it('writes plain lines where nobody watches: no colours, no bar, no carriage returns', () => {
    const text = show(false);
    for (const sign of [ESCAPE, '\r', '█']) expect(text).not.toContain(sign);
    expect(text.split('\n')).toHaveLength(24);
  });

  it('draws a bar below the lines of a terminal and wipes it before the next line', () => {
    const text = show(true);
    expect(text).toContain('█');
    const bars = text.split('\r\u001B[2K').slice(1);
    // A bar is followed by nothing else on its line: either the next wipe, or the end of it.
    for (const part of bars.filter((piece) => piece.startsWith('█') || piece.startsWith('░')))
      expect(part).not.toContain('\n');
    expect(text.endsWith('\n')).toBe(true);
  });

  it('leaves out colours when NO_COLOR is set, and everything that moves on a dumb terminal', () => {
    expect(show(true)).toContain(GREEN);
    const quiet = show(true, { NO_COLOR: '1' });
    expect(quiet).not.toContain(GREEN);
    expect(quiet).toContain('█');
    const dumb = show(true, { TERM: 'dumb' });
    for (const sign of [ESCAPE, '█']) expect(dumb).not.toContain(sign);
  });
});

describe('JsonView', () => {
  function document(
    use: (view: JsonView) => void,
    validateOnly = false,
  ): { value: Record<string, unknown>; aside: string } {
    let [text, aside] = ['', ''];
    const view = new JsonView(
      (part) => (text += part),
      (part) => (aside += part),
      validateOnly,
    );
    use(view);
    return { value: JSON.parse(text) as Record<string, unknown>, aside };
  }

  it('prints one document with what came out, the last value of each series, and artifacts', () => {
    const { value, aside } = document((view) => {
      view.notice('careful');
      view.checked(facts, [], [issue]);
      for (const message of recordedRun) view.message(message);
      view.finished(recordedOutcome);
    });
    expect(value).toMatchObject({
      status: 'failed',
      name: 'A',
      error: '1 node failed, the first is block',
      outputs: { 'training.losses': { type: 'tensor' }, 'p__inner.value': { value: 0.91 } },
      graph_outputs: { answer: [1, 2] },
      metrics: [{ name: 'train_loss', value: 0.2, step: 2 }],
      artifacts: [{ path: '/data/models/m.safetensors' }],
      issues: [],
      warnings: [{ message: 'No' }, { detail: 'bf16 runs as fp32' }],
      failed_nodes: ['block'],
      seconds: 4.31,
    });
    expect(aside).toBe('note: careful\naccuracy: 0.91\n');
  });

  it('prints the problems of a file, or that it is fine', () => {
    expect(document((view) => view.checked(facts, [issue], [])).value).toMatchObject({
      status: 'invalid',
      issues: [{ code: 'cycle' }],
    });
    expect(document((view) => view.checked(facts, [], []), true).value).toMatchObject({ status: 'valid', error: null });
    expect(document((view) => view.failed('gone')).value).toMatchObject({
      status: 'failed',
      error: 'gone',
      file: null,
    });
  });
});

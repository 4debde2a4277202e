import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import { CAPABILITIES, checkAgentFrame, checkServerFrame } from '@cdui/protocol';
import { AGENT_FRAME_EXAMPLES, SERVER_FRAME_EXAMPLES } from '@cdui/protocol/worker/examples';

const root = programRoot();
const check = (...folder: string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [join(root, 'tools/protocol-page.mjs'), '--check', ...folder], {
    encoding: 'utf8',
    cwd: root,
  });
const page = readFileSync(join(root, 'docs/protocol.md'), 'utf8');
const TYPES = [...Object.keys(AGENT_FRAME_EXAMPLES), ...Object.keys(SERVER_FRAME_EXAMPLES)];

/** What stands between a frame's heading and the next. */
const sectionOf = (type: string): string => page.split(`### \`${type}\`\n`)[1]?.split('\n#')[0] ?? '';

describe('the page of the protocol', () => {
  it('is what its tool makes of the types (node tools/protocol-page.mjs)', () => {
    expect(check()).toMatchObject({ status: 0 });
  });

  it('is told from one that is out of date', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-protocol-'));
    try {
      cpSync(join(root, 'docs/protocol.md'), join(folder, 'docs/protocol.md'));
      expect(check(folder)).toMatchObject({ status: 0 });
      writeFileSync(join(folder, 'docs/protocol.md'), page.replace('| `seq` |', '| `sequence` |'));
      expect(check(folder)).toMatchObject({ status: 1, stdout: expect.stringContaining('docs/protocol.md') });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each(TYPES)('shows a frame %s that passes the check, and a row for each of its fields', (type) => {
    const section = sectionOf(type);
    const example = JSON.parse(/```json\n(.*?)```/s.exec(section)?.[1] ?? 'null') as Record<string, unknown>;
    expect(example['type']).toBe(type);
    expect(checkAgentFrame(example) ?? checkServerFrame(example)).toBe(example);
    const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(rows.sort()).toEqual(
      Object.keys(example)
        .filter((key) => key !== 'type')
        .sort(),
    );
  });

  it('says what each capability adds, with no place left open', () => {
    for (const name of CAPABILITIES) expect(page).toContain(`| \`${name}\` |`);
    expect(page).not.toMatch(/\{\{|undefined|NaN/);
  });
});

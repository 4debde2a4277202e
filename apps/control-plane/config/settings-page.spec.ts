import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import { readSettings } from './settings';

/** Names of all variables that are read, as the program reads them. */
function variables(): readonly string[] {
  const names = new Set<string>();
  readSettings(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names].sort();
}

const page = readFileSync(join(programRoot(), 'docs/settings.md'), 'utf8');
const rows = [...page.matchAll(/^\| `(CODEFYUI_\w+)` +\|(.*?)\|.+\|$/gm)].map((match) => ({
  name: match[1]!,
  initial: match[2]!.replaceAll('`', '').trim(),
}));

describe('docs/settings.md', () => {
  it('has every variable, and no other', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(variables());
  });

  it('gives their defaults: set to them, the settings are the same', () => {
    const data = join(homedir(), '.codefyui/data');
    const env = Object.fromEntries(
      rows
        .filter(({ initial }) => initial !== '' && initial !== "the program's own" && initial !== 'the program’s own')
        .map(({ name, initial }) => [name, initial.replace(/^DATA/, data).replace(/^~/, homedir())])
        .map(([name, value]) => [name, value === 'CODEFYUI_MAX_RUN_BODY_BYTES' ? '67108864' : value]),
    ) as Record<string, string>;
    expect(Object.keys(env).length).toBeGreaterThan(25);
    expect(readSettings(env)).toEqual(readSettings({}));
  });
});

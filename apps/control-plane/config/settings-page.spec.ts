import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import { readAgentSettings } from '../../agent/settings';
import { readSettings } from './settings';

type Environment = Readonly<Record<string, string | undefined>>;

/** Names of all variables that are read, as the program reads them. */
function variables(read: (env: Environment) => unknown): readonly string[] {
  const names = new Set<string>();
  read(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names].sort();
}

const page = readFileSync(join(programRoot(), 'docs/settings.md'), 'utf8');
const [server = '', agent = ''] = page.split('\n## Worker agents\n');

function rowsOf(text: string): readonly { readonly name: string; readonly initial: string }[] {
  return [...text.matchAll(/^\| `(CODEFYUI_\w+)` +\|(.*?)\|.+\|$/gm)].map((match) => ({
    name: match[1]!,
    initial: match[2]!.replaceAll('`', '').trim(),
  }));
}

/** The page's defaults as an environment; those that are said in words are left out. */
function defaultsOf(rows: ReturnType<typeof rowsOf>): Environment {
  const data = join(homedir(), '.codefyui/data');
  return Object.fromEntries(
    rows
      .filter(({ initial }) => initial !== '' && initial !== "the program's own" && initial !== 'the program’s own')
      .map(({ name, initial }) => [name, initial.replace(/^DATA/, data).replace(/^~/, homedir())])
      .map(([name, value]) => [name, value === 'CODEFYUI_MAX_RUN_BODY_BYTES' ? '67108864' : value]),
  ) as Environment;
}

describe('docs/settings.md', () => {
  it('has every variable, and no other', () => {
    const [ofServer, ofAgent] = [server, agent].map((text) => rowsOf(text).map(({ name }) => name));
    expect([...ofServer!].sort()).toEqual(variables(readSettings));
    // What both read stands with the server.
    const shared = variables(readAgentSettings).filter((name) => ofServer!.includes(name));
    expect([...shared, ...ofAgent!].sort()).toEqual(variables(readAgentSettings));
  });

  it('gives their defaults: set to them, the settings are the same', () => {
    const env = defaultsOf(rowsOf(server));
    expect(Object.keys(env).length).toBeGreaterThan(25);
    expect(readSettings(env)).toEqual(readSettings({}));
    const more = defaultsOf(rowsOf(agent));
    expect(Object.keys(more).length).toBeGreaterThan(1);
    expect(readAgentSettings({ ...env, ...more })).toEqual(readAgentSettings({}));
  });
});

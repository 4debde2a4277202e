import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: readonly string[];
}

let known: readonly KnownPath[] | null = null;

/** The methods that a path has in the OpenAPI document, in capitals; null for a path that is not there. */
export function methodsOf(path: string): readonly string[] | null {
  known ??= knownPaths();
  const fitting = known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
  return fitting.length === 0 ? null : [...new Set(fitting)].sort();
}

function knownPaths(): readonly KnownPath[] {
  const text = readFileSync(join(programRoot(), 'libs/api-client/openapi.json'), 'utf8');
  const { paths } = JSON.parse(text) as { readonly paths: Readonly<Record<string, object>> };
  return Object.entries(paths).map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
    methods: Object.keys(operations).map((method) => method.toUpperCase()),
  }));
}

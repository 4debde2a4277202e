import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';

it('docs/rest.md has every route of the document, and no other', () => {
  const read = (file: string): string => readFileSync(join(programRoot(), file), 'utf8');
  const { paths } = JSON.parse(read('libs/api-client/openapi.json')) as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const described = [...read('docs/rest.md').matchAll(/^\| `((?:GET|POST|DELETE) [^`]+)` +\|/gm)].map(
    (match) => match[1],
  );
  expect(described.sort()).toEqual(routes.sort());
});

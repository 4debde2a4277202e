import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { programRoot } from '@cdui/host/entry';
import { graphOf, writeCustomNodes } from '../testing/custom-nodes';
import { type Answer, TestServer } from '../testing/test-server';
import { times } from '../../../testing/long';

interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const document = JSON.parse(readFileSync(join(programRoot(), 'libs/api-client/openapi.json'), 'utf8')) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** No answer takes longer than this; requests here ask to be kept waiting for less. */
const HANGS_MS = 20_000;
const RUNS = times(25, 400);

let server: TestServer;
let knownRun: string;
/** Statuses that were answered: requests that are all refused for the same reason would prove nothing. */
const seen = new Set<number>();
beforeAll(async () => {
  server = await TestServer.start({ CODEFYUI_MAX_RUN_BODY_BYTES: '1000000' }, (folder) =>
    writeCustomNodes(folder, { Give: 'return { value: 1 };' }),
  );
  knownRun = ((await server.post('/api/runs', { graph: graphOf('Give') })).json as { run_id: string }).run_id;
});
afterAll(() => server.close());

/** What a hostile client writes where something else is meant. */
const weirdText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '../../etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '\0',
    '\u202e',
    '\ud800',
    '__proto__',
    'constructor',
    'toString',
    'null',
    '-0',
    '1e309',
    'NaN',
    '0x10',
    "' OR 1=1 --",
    '%',
    '%%%',
    '*',
    '"',
    '\r\nX-Evil: 1',
    'x'.repeat(5_000),
    '🧠'.repeat(300),
  ),
);
const weirdValue = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  weirdText,
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    [[]],
    1e308,
    -1,
    2 ** 53,
    0.1,
    true,
    { length: -1 },
    Array.from({ length: 3_000 }, () => 0),
  ),
);

function resolve(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)!]!;
}

/** Values that fit a schema. */
function fitting(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(fitting));
  const type = Array.isArray(schema.type) ? (schema.type as string[])[0] : schema.type;
  switch (type) {
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1_000, 2_000) });
    case 'number':
      // Of those there is only the time to wait.
      return fc.double({ min: schema.minimum ?? 0, max: 0.05, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(fitting(schema.items ?? {}), { maxLength: 3 });
    case 'object':
      return schema.properties
        ? fc.record(
            Object.fromEntries(Object.entries(schema.properties).map(([name, member]) => [name, fitting(member)])),
            { requiredKeys: [...(schema.required ?? [])] },
          )
        : fc.oneof(fc.constant(graphOf('Give')), fc.dictionary(fc.string(), fc.jsonValue()));
    case 'string':
      return fc.oneof(fc.string({ maxLength: Math.min(schema.maxLength ?? 40, 40) }), fc.constantFrom('cpu', 'Give'));
    default:
      return fc.jsonValue();
  }
}

/** A body with something wrong at a place of its own. */
function spoiled(schema: Schema): fc.Arbitrary<unknown> {
  return fc
    .tuple(fitting(schema), fc.array(fc.tuple(weirdText, weirdValue), { maxLength: 2 }), weirdValue, fc.nat())
    .map(([body, extra, value, index]) => {
      if (typeof body !== 'object' || body === null) return value;
      const members = Object.entries(body);
      const spoil = members.length === 0 ? -1 : index % (members.length + 1);
      const entries = members.map(([name, member], at) => [name, at === spoil ? value : (member as unknown)] as const);
      return Object.fromEntries([...entries, ...extra]);
    });
}

const queryOf = (pairs: readonly (readonly [string, unknown])[]): string =>
  pairs.map(([name, value]) => `${encode(name)}=${encode(String(value))}`).join('&');
/** Lone surrogates have no percent-encoding. */
const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

function pathOf({ path, operation }: (typeof operations)[number], filler: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const names = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  return fc
    .tuple(...names.map(() => filler))
    .map((values) => names.reduce((filled, name, index) => filled.replace(`{${name}}`, encode(values[index]!)), path));
}

function queryFor({ operation }: (typeof operations)[number], valid: boolean): fc.Arbitrary<string> {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const pairs = parameters.map(({ name, schema }) => {
    const value = valid ? fitting(schema) : fc.oneof(fitting(schema), weirdText);
    // To be kept waiting is no fault of the server.
    return fc.option(value.map((given) => [name, name === 'wait' && !(Number(given) > 60) ? 0 : given] as const));
  });
  const more = valid
    ? fc.constant([])
    : fc.array(
        fc.tuple(
          fc.oneof(
            weirdText,
            fc.constantFrom(...parameters.map(({ name }) => name), 'x').filter((name) => name !== 'wait'),
          ),
          weirdText,
        ),
        { maxLength: 2 },
      );
  return fc
    .tuple(fc.tuple(...pairs), more)
    .map(([known, extra]) => queryOf([...known.filter((pair) => pair !== null), ...extra]));
}

async function inTime(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${HANGS_MS} ms`)), HANGS_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whatever was asked: an answer, in time, of a status that says whose fault it is, with a body that says which. */
function expectAnswer(answer: Answer): void {
  seen.add(answer.status);
  if (answer.status === 500 || (answer.status > 500 && answer.status !== 503))
    throw new Error(`${answer.status}: ${answer.text}`);
  if (answer.status >= 400 && answer.status !== 416) expect(answer.json).toHaveProperty('detail');
}

describe.each(operations.map((entry) => [entry.operation.operationId, entry] as const))('%s', (_, entry) => {
  const { method, operation } = entry;
  const schema = operation.requestBody?.content['application/json'].schema;
  const ids = fc.oneof(fc.constantFrom('f'.repeat(32), 'Give', 'x'), fc.constant(null)).map((id) => id ?? knownRun);

  it('answers requests that fit the document with what it declares', async () => {
    const body = schema ? fitting(schema) : fc.constant(undefined);
    await fc.assert(
      fc.asyncProperty(pathOf(entry, ids), queryFor(entry, true), body, async (path, query, value) => {
        const answer = await inTime(
          server.send(method, `${path}?${query}`, value === undefined ? {} : { body: value }),
        );
        expectAnswer(answer);
        expect(Object.keys(operation.responses)).toContain(String(answer.status));
      }),
      { numRuns: RUNS },
    );
  });

  it('refuses what does not fit, and never fails on it', async () => {
    const weird = fc.oneof(
      weirdText.filter((text) => !['', '.', '..'].includes(text)),
      fc.constant('f'.repeat(32)),
    );
    const body = fc.oneof(schema ? spoiled(schema) : weirdValue, weirdValue);
    await fc.assert(
      fc.asyncProperty(pathOf(entry, weird), queryFor(entry, false), body, async (path, query, value) => {
        const sent = schema && method !== 'GET' ? { body: value } : {};
        expectAnswer(await inTime(server.send(method, `${path}?${query}`, sent)));
      }),
      { numRuns: RUNS },
    );
  });
});

it('knows no path by a method that it does not have', async () => {
  for (const { path } of operations) {
    const filled = path.replace(/\{\w+\}/g, 'x');
    const has = operations.filter((other) => new RegExp(`^${other.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(filled));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter((name) =>
      has.every((other) => other.method !== name),
    )) {
      const answer = await inTime(server.send(method, filled));
      expect([method, filled, answer.status]).toEqual([method, filled, 405]);
      expect(answer.headers.allow?.split(', ')).toEqual(expect.arrayContaining(has.map((other) => other.method)));
    }
  }
});

it.each([
  '/api',
  '/api/',
  '//',
  '/api//runs',
  '/api/runs/%00',
  '/api/runs/%ff',
  '/api/runs/%',
  '/api/runs/..',
  '/api/runs/../../etc/passwd',
  '/api/runs/%2e%2e/%2e%2e',
  '/API/RUNS',
  '/api/runs;x=1',
  '/api/runs?%ff=%',
  '/api/runs?limit[]=1',
  '/api/runs?limit[__proto__]=1',
  '/api/runs?__proto__=1&constructor=2',
  `/api/runs?q=${'x'.repeat(10_000)}`,
  `/api/runs/${'x'.repeat(10_000)}`,
  '/docs/../main.js',
  '/docs/%2e%2e%2fpackage.json',
  '/docs/package.json',
  '/openapi.json/',
  '*',
  '/api/runs/\u00e9',
  '/metrics/x',
])('answers the path %j', async (path) => {
  for (const method of ['GET', 'DELETE', 'HEAD', 'OPTIONS']) {
    const answer = await inTime(server.send(method, path));
    expect(answer.status).toBeLessThan(500);
  }
});

it('is whole after all that', async () => {
  expect([...seen]).toEqual(expect.arrayContaining([200, 400, 404, 422]));
  expect((await server.get('/api/health')).status).toBe(200);
  const { run_id: id } = (await server.post('/api/runs', { graph: graphOf('Give') })).json as { run_id: string };
  let active = true;
  for (let cursor = 0; active;) {
    const page = (await server.get(`/api/runs/${id}/events?cursor=${cursor}&wait=30`)).json as {
      active: boolean;
      cursor: number;
    };
    ({ active, cursor } = page);
  }
  expect((await server.get(`/api/runs/${id}`)).json).toMatchObject({ status: 'succeeded' });
});

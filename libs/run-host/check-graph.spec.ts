import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphFile } from '@cdui/protocol';
import { checkGraph } from './check-graph';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'check-graph-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const trigger = { source: 'start', sourceHandle: 'trigger', target: 'a', type: 'trigger' };
const fileOf = (type: string, params: Readonly<Record<string, unknown>>): GraphFile => ({
  nodes: [
    { id: 'start', type: 'Start' },
    { id: 'a', type, data: { params } },
  ],
  edges: [trigger],
});
const check = (graph: GraphFile, inputs?: ReadonlyMap<string, string>) =>
  checkGraph(JSON.stringify(graph), { customNodes: folder, presets: null }, inputs);

it('keeps secrets out of what a custom node’s own check says', () => {
  writeFileSync(
    join(folder, 'Service.js'),
    `module.exports = (sdk) => ({
      name: 'Service', category: 'Test', description: '', inputs: {}, outputs: {},
      params: { key: sdk.param.secret() },
      check: ({ key }, nodeId) => [
        { message: 'the key ' + key + ' is too short', code: 'invalid_param', node_id: nodeId, params: { got: key } },
      ],
      execute: () => ({}),
    });\n`,
  );
  const { issues } = check(fileOf('Service', { key: 'sk-canary-42' }));
  expect(issues.map(({ message }) => message)).toEqual(['Node "a" (Service): the key [secret] is too short']);
  expect(JSON.stringify(issues)).not.toContain('canary');
});

it('gives inputs values before it checks, images from files', () => {
  const image = join(folder, 'dot.png');
  writeFileSync(image, 'png');
  const photo = fileOf('GraphInput', { name: 'photo', type: 'image' });
  const given = check(photo, new Map([['photo', image]]));
  expect(given.issues).toEqual([]);
  expect(given.graph?.nodes[1]?.data?.params?.['value']).toBe(Buffer.from('png').toString('base64'));
  const { issues } = check(photo, new Map([['photo', join(folder, 'none.png')]]));
  expect(issues).toMatchObject([{ code: 'invalid_input', node_id: 'a' }]);
  expect(issues[0]?.message).toMatch(/none\.png", which is no file: name a PNG image$/);
});

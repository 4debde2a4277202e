import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinNodes, catalogueOf, CustomNodeFolder } from '@cdui/nodes';
import type { CatalogAnswer } from '../catalog-helper/answer';
import { Catalog } from './catalog';
import { readCatalog } from './read-catalog';

const custom = (name: string): string =>
  `module.exports = (sdk) => ({ name: '${name}', category: 'Test', description: '', inputs: {}, outputs: { value: 'ANY' }, execute: () => ({}) });`;

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-catalog-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the catalogue helper', () => {
  it('says the same as the catalogue of the control plane, and what computes here', async () => {
    writeFileSync(join(folder, 'broken.js'), 'module.exports = 1;');
    const answer = await readCatalog(folder);
    const { catalogHash, nodeTypeHashes } = catalogueOf(
      new CustomNodeFolder({ folder, builtins: builtinNodes }).snapshot().registry,
    );
    expect(answer).toMatchObject({ catalog_hash: catalogHash, node_type_hashes: nodeTypeHashes, served: ['cpu'] });
    expect(answer.fingerprint).toMatchObject({
      node: process.version,
      custom_nodes: { 'broken.js': expect.any(String) as string },
    });
    expect(answer.problems).toEqual([expect.stringContaining('broken.js')]);
  });

  it('says in words why there is no answer: a file that ends the process, or never ends itself', async () => {
    writeFileSync(join(folder, 'end.js'), 'process.exit(7);');
    await expect(readCatalog(folder)).rejects.toMatchObject({
      code: 'catalog_failed',
      message: expect.stringContaining('ended with 7') as string,
    });
    writeFileSync(join(folder, 'end.js'), 'for (;;);');
    await expect(readCatalog(folder, 1_000)).rejects.toMatchObject({
      message: expect.stringContaining('within 1 s') as string,
    });
  });
});

describe('the catalogue of an agent', () => {
  it('is looked at again when the folder of custom nodes changes, and when it comes into being', async () => {
    const nodes = join(folder, 'nodes');
    const answers: (CatalogAnswer | null)[] = [];
    let wake = (): void => undefined;
    const log = { info: () => undefined, warn: () => undefined };
    const catalog = new Catalog(nodes, log, (answer) => {
      answers.push(answer);
      wake();
    });
    const until = async (count: number): Promise<void> => {
      while (answers.length < count) await new Promise<void>((resolve) => (wake = resolve));
    };
    await catalog.start();
    catalog.check();
    mkdirSync(nodes);
    writeFileSync(join(nodes, 'a.js'), custom('Mine'));
    catalog.check();
    await until(2);
    writeFileSync(join(nodes, 'b.js'), custom('Other'));
    await until(3);
    expect(
      answers.map((answer) => Object.keys(answer!.node_type_hashes).filter((name) => /^(Mine|Other)$/.test(name))),
    ).toEqual([[], ['Mine'], ['Mine', 'Other']]);
    catalog.close();
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinNodes, createNodeRegistry, CustomNodeFolder, nodeList } from './index';
import { expectClose } from './testing/close-to';
import type { TensorResult } from './testing/run-node';
import { NodeRunner, tensor } from './testing/run-node';

const doc = (name: string): string => readFileSync(join(__dirname, '../../docs', name), 'utf8');

describe('the documentation', () => {
  it('lists the nodes as they are (npm run build && node tools/list-nodes.mjs)', () => {
    expect(doc('nodes.md')).toBe(nodeList(createNodeRegistry(builtinNodes)));
  });

  it('shows a custom node that works as it stands', async () => {
    const example = /^```ts\n(.*?)^```$/ms.exec(doc('contributing/add-a-node.md'))?.[1] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'cdui-example-'));
    let runner: NodeRunner | null = null;
    try {
      writeFileSync(join(folder, 'clip.ts'), example);
      const { registry, problems } = new CustomNodeFolder({ folder, builtins: builtinNodes }).snapshot();
      expect(problems).toEqual([]);
      runner = await NodeRunner.open(registry);
      const report = await runner.runNode('Clip', {
        inputs: {
          tensor: tensor([
            [0.5, -3],
            [2, 1],
          ]),
          limit: 1.5,
        },
      });
      expectClose((report.outputs['tensor'] as TensorResult).values, [
        [0.5, -1],
        [1.5, 1],
      ]);
      expectClose(report.outputs['share'], 0.5);
      expect(report.log).toEqual(['50 % of the elements were outside']);
      const wrong = runner.runNode('Clip', { inputs: { tensor: tensor([1]) }, params: { low: 3 } });
      await expect(wrong).rejects.toThrow('Clip "clip_1": param "low" must be at most 1, got 3');
    } finally {
      await runner?.close();
      rmSync(folder, { recursive: true });
    }
  });
});

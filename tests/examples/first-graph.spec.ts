import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphFile } from '@cdui/protocol';
import { ExampleFolder, runExample } from './run-example';

it('the graph that docs/first-graph.md builds runs and learns', async () => {
  const page = readFileSync(join(__dirname, '../../docs/first-graph.md'), 'utf8');
  const [nodes, edges] = Array.from(page.matchAll(/```json\n([^]*?)```/g), ([, block]) => block!);
  const graph = { ...(JSON.parse(nodes!) as GraphFile), edges: JSON.parse(`[${edges}]`) as GraphFile['edges'] };
  const folder = new ExampleFolder();
  try {
    const { metric, console: text } = await runExample({ ...graph, settings: { seed: 1 } }, folder.folders);
    expect(metric('eval_accuracy')).toBeGreaterThanOrEqual(0.9);
    expect(text).toMatch(/accuracy/);
  } finally {
    folder.remove();
  }
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphFile } from '@cdui/protocol';

/** Writes custom nodes into a server's folder, by what the body of their `execute(context, inputs, params)` does. */
export function writeCustomNodes(folder: string, nodes: Readonly<Record<string, string>>): void {
  const target = join(folder, 'data/custom_nodes');
  mkdirSync(target, { recursive: true });
  for (const [name, body] of Object.entries(nodes)) {
    writeFileSync(
      join(target, `${name}.js`),
      `module.exports = (sdk) => ({
        name: '${name}', category: 'Test', description: '', inputs: { in: 'ANY?' }, outputs: { value: 'ANY' },
        params: { key: sdk.param.secret() },
        async execute(context, inputs, params) { ${body} },
      });\n`,
    );
  }
}

/** A graph that executes two nodes of the type, one after the other: a run that is stopped in the first is not complete. */
export function graphOf(type: string, params: Readonly<Record<string, unknown>> = {}): GraphFile {
  return {
    name: type,
    nodes: [
      { id: 'start', type: 'Start' },
      { id: 'node', type, data: { params } },
      { id: 'after', type, data: { params } },
    ],
    edges: [
      { source: 'start', sourceHandle: 'trigger', target: 'node', type: 'trigger' },
      { source: 'node', sourceHandle: 'value', target: 'after', targetHandle: 'in' },
    ],
  };
}

// Writes docs/nodes.md from the built-in nodes. Needs `npm run build`.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const { builtinNodes, createNodeRegistry, nodeList } = createRequire(import.meta.url)('../dist/libs/nodes/index.js');
writeFileSync(fileURLToPath(new URL('../docs/nodes.md', import.meta.url)), nodeList(createNodeRegistry(builtinNodes)));

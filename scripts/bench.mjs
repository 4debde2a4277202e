// Measures: `npm run bench -- NAME [--json]`.
import { main, runBuilt } from './lib/prepare.mjs';

await main((args) => runBuilt('apps/bench/main.js', args));

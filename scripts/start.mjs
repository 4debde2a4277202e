// Starts the server.
import { main, runBuilt } from './lib/prepare.mjs';

await main((args) => runBuilt('apps/control-plane/main.js', args));

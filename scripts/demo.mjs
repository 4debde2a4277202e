// Trains a convolutional network on handwritten digits. `--quick` uses a part of them.
import { main, runBuilt } from './lib/prepare.mjs';

await main((args) => runBuilt('apps/cli/demo.js', args));

// Runs all specs. Arguments go to jest: `npm test -- libs/engine`.
import { main } from './lib/prepare.mjs';
import { runTests } from './lib/tests.mjs';

await main((args) => runTests(args));

// Runs all specs with the full numbers of iterations, which take too long for every change.
import { main } from './lib/prepare.mjs';
import { runTests } from './lib/tests.mjs';

await main((args) => runTests(args, { CDUI_TEST_LONG: '1' }));

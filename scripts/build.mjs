// Compiles apps/ and libs/ into dist/.
import { ensureBuilt, ensureDependencies, main } from './lib/prepare.mjs';

await main(async () => {
  await ensureDependencies();
  await ensureBuilt();
  return 0;
});

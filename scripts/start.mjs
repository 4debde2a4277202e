// Starts the server in this terminal. Its data lies in the clone unless a folder is named.
import { stateFolder } from './lib/paths.mjs';
import { main, runBuilt } from './lib/prepare.mjs';

await main((args) => {
  process.env.CODEFYUI_USER_DATA_DIR ||= stateFolder;
  return runBuilt('apps/control-plane/main.js', args);
});

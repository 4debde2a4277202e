// Starts the server in this terminal, and a worker agent of this machine beside it; `--no-agent` leaves that out. Their data lies in the clone unless a
// folder is named.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { runChild } from './lib/child.mjs';
import { root, stateFolder } from './lib/paths.mjs';
import { say } from './lib/steps.mjs';
import { ensureBuilt, ensureDependencies, main } from './lib/prepare.mjs';

const NO_AGENT = '--no-agent';

await main(async (args) => {
  process.env.CODEFYUI_USER_DATA_DIR ||= stateFolder;
  const given = args.filter((arg) => arg !== NO_AGENT);
  await ensureDependencies();
  await ensureBuilt();
  const server = runChild(process.execPath, [join(root, 'dist/apps/control-plane/main.js'), ...given]);
  // Arguments are for help only: nothing is started with them.
  if (given.length > 0 || args.includes(NO_AGENT)) return server;
  const started = agent('start').then((report) => {
    const name = /"name":"([^"]+)"/.exec(report)?.[1];
    if (name) say(`A worker agent, "${name}", runs beside it: "cdui run --worker ${name} GRAPH.json" sends it a run.`);
    return report;
  });
  const code = await server;
  // One that was there before stays.
  if ((await started).includes('"already_running":false')) await agent('stop');
  return code;
});

/** Runs a command of the agent. @returns what it printed as JSON, whatever came of it */
function agent(command) {
  return new Promise((resolve) => {
    // Ctrl+C is for the server; the agent is told afterwards.
    const child = spawn(process.execPath, [join(root, 'dist/apps/cli/main.js'), 'agent', command, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.once('error', () => resolve(''));
    child.once('close', () => resolve(text.replaceAll(/\s/g, '')));
  });
}

import 'reflect-metadata';
import type { Worker } from 'node:worker_threads';
import type { Lock } from '@cdui/host';
import type { Settings } from './config/settings';
import { RunsLifetime } from './runs/local/runs.module';
import { createApp, listen } from './server';
import { Boot } from './system/boot';
import { ServerAddress } from './system/server-address';
import { removeServerFiles, writeServerFiles } from './system/server-files';
import { stopOnSignals } from './system/shutdown';

/** Serves until the process is asked to stop. Whoever can reach the server finds one that stops in order. */
export async function serve(settings: Settings, lock: Lock, catalogThread: Worker): Promise<void> {
  const { host, userDataDir } = settings;
  const app = await createApp(settings, catalogThread);
  stopOnSignals({
    app,
    tell: () => lock.leave(),
    unfinished: () => app.get(RunsLifetime).unfinished,
    removeFiles: () => removeServerFiles(userDataDir),
  });
  const { url } = await listen(app, settings);
  lock.announce(url);
  const { id: boot_id, version } = app.get(Boot);
  await writeServerFiles(userDataDir, {
    url,
    host,
    port: app.get(ServerAddress).port,
    pid: process.pid,
    boot_id,
    version,
  });
  process.stdout.write(
    `The control plane answers at ${url} (try ${url}/api/health and ${url}/api/nodes). ${howToStop()} stops it.\n`,
  );
}

/** In the background there is no keyboard. */
function howToStop(): string {
  return process.stdin.isTTY || process.stdout.isTTY ? 'Ctrl+C' : '"cdui stop"';
}

import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import { CodedError } from '@cdui/protocol';
import { startCatalogThread } from './catalog-thread/start-thread';
import { readSettings } from './config/settings';
import { takeFolders } from './system/folder-lock';

const USAGE = `Usage: npm start

Starts the server and keeps it in the foreground; Ctrl+C stops it. It takes no arguments. Variables:
  CODEFYUI_HOST                 address to listen on (127.0.0.1)
  CODEFYUI_PORT                 port to listen on (8000)
  CODEFYUI_USER_DATA_DIR        where its data lies (~/.codefyui; with npm start .codefyui/ in the clone)
  CODEFYUI_CUSTOM_NODES_DIR     folder of your own nodes (data/custom_nodes below it)
  CODEFYUI_PRESETS_DIR          folder of your own presets (data/presets below it)
  CODEFYUI_EXTRA_ALLOWED_HOSTS  further values of the Host header, comma-separated
`;

async function main(args: readonly string[]): Promise<void> {
  if (args.length > 0) {
    const asked = args.every((arg) => arg === '--help' || arg === '-h');
    (asked ? process.stdout : process.stderr).write(asked ? USAGE : `Unknown argument "${args[0]}".\n\n${USAGE}`);
    process.exitCode = asked ? 0 : 2;
    return;
  }
  const settings = readSettings(process.env, join(programRoot(), 'examples'));
  const lock = await takeFolders(settings);
  try {
    // Both take long to load, and the machine has more than one core.
    const catalogThread = startCatalogThread(settings);
    const { serve } = await import('./serve.js');
    await serve(settings, lock, catalogThread);
  } catch (error) {
    // A file beside what turned out to be no database would be litter in somebody else's folder.
    lock.discard();
    throw error;
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof CodedError) return error.message;
  const { code, address } = error as NodeJS.ErrnoException & { address?: string };
  switch (code) {
    case 'EADDRINUSE':
      return `${String(error)}\nThe port is taken: stop the other program, or set CODEFYUI_PORT.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${address ?? process.env['CODEFYUI_HOST']}: set CODEFYUI_HOST to one that it has, such as 127.0.0.1`;
    default:
      return String(error);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${wordsOf(error)}\n`);
  // Threads are there that would keep a process alive which answers nobody. None of them computes yet.
  process.exit(1);
});

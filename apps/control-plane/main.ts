import 'reflect-metadata';
import { CodedError } from '@cdui/protocol';
import { readSettings } from './config/settings';
import { startServer } from './server';

async function main(): Promise<void> {
  const { url } = await startServer(readSettings(process.env));
  process.stdout.write(
    `The control plane answers at ${url} (try ${url}/api/health and ${url}/api/nodes). Ctrl+C stops it.\n`,
  );
}

main().catch((error: unknown) => {
  const busy = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  const hint = busy ? 'The port is taken: stop the other program, or set CODEFYUI_PORT.\n' : '';
  process.stderr.write(`${error instanceof CodedError ? error.message : String(error)}\n${hint}`);
  process.exitCode = 1;
});

import { CodedError } from '@cdui/protocol';
import { readSettings } from './config/settings';
import { backUp } from './database/backup';

const USAGE = `Usage: backup FILE [--force]

Copies the database of the server (CODEFYUI_DB_PATH, or data/codefyui.db below CODEFYUI_USER_DATA_DIR) into FILE. The server may run meanwhile.
--force replaces a FILE that exists.
`;

async function main(args: readonly string[]): Promise<void> {
  const [target, ...more] = args.filter((arg) => arg !== '--force');
  if (target === undefined || target.startsWith('-') || more.length > 0) {
    const asked = target === '--help' || target === '-h';
    (asked ? process.stdout : process.stderr).write(USAGE);
    process.exitCode = asked ? 0 : 2;
    return;
  }
  await backUp(readSettings(process.env).dbPath, target, { replace: args.includes('--force') });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof CodedError ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

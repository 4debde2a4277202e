/** How the program ends. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  interrupted: 130,
  /** As a shell reports a program that SIGPIPE ended. */
  noReader: 141,
} as const;

/** Commander throws these in place of ending the process. Help that nobody asked for counts as a failure. */
const CODES: Readonly<Record<string, number>> = {
  'commander.helpDisplayed': EXIT.ok,
  'commander.version': EXIT.ok,
  'commander.help': EXIT.failed,
  'commander.unknownCommand': EXIT.failed,
};

/** The exit code for what ended a command before it did anything: help, the version, or bad arguments. Null: it is none of these. */
export function exitCodeOf(error: unknown): number | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || !code.startsWith('commander.')) return null;
  return CODES[code] ?? EXIT.usage;
}

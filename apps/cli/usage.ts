/** What the command line itself finds wrong, before a command does anything; and the one thing about arguments that commander does not know. */

/** Whether the arguments ask for JSON, also where they are not understood otherwise. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(2, end === -1 ? undefined : end).includes('--json');
}

/** Arguments that cannot be right, as the document that says what went wrong: commander's code, such as `unknown_option`, and its sentence. */
export function mistakeAsJson(error: Error): string {
  const given = 'code' in error ? String(error.code).replace(/^commander\./, '') : 'usage';
  const isHelp = given === 'help';
  const code = isHelp ? 'missing_command' : given.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const message = isHelp ? 'Name a command: --help lists them' : error.message.replace(/^error: /, '');
  return `${JSON.stringify({ error: { code, message, details: {} } }, null, 2)}\n`;
}

/** `help runs list` as `runs list --help`: commander looks at the first word only. */
export function withHelpOfDeepCommands(argv: readonly string[]): string[] {
  const [node, program, first, ...words] = argv;
  const deep = first === 'help' && words.length > 1 && words.every((word) => !word.startsWith('-'));
  return deep ? [node!, program!, ...words, '--help'] : [...argv];
}

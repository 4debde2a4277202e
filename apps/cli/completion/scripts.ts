import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** A word that may follow, and what it means. */
interface Word {
  readonly word: string;
  readonly description: string;
}

/** The words that may follow a chain of commands. `path` is `''` for the program itself, then `runs`, `runs list`. */
interface Place {
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
}

/** The script for a shell, made from the tree of commands itself; null for a shell that it does not know. */
export function completionScript(shell: string, root: Command): string | null {
  const places = placesOf(root, []);
  switch (shell) {
    case 'bash':
      return bash(places);
    case 'zsh':
      return zsh(places);
    case 'fish':
      return fish(places);
    default:
      return null;
  }
}

function placesOf(command: Command, path: readonly string[]): readonly Place[] {
  const { commands } = command;
  return [
    {
      path: path.join(' '),
      commands: commands.map((child) => ({ word: child.name(), description: child.description() })),
      options: command.options
        .flatMap(({ short, long, description }) => [short, long].map((word) => ({ word, description })))
        .concat([{ word: '--help', description: 'display help for command' }])
        .filter((option): option is Word => option.word !== undefined && option.word !== null),
    },
    ...commands.flatMap((child) => placesOf(child, [...path, child.name()])),
  ];
}

const words = (list: readonly Word[]): string => list.map(({ word }) => word).join(' ');

function bash(places: readonly Place[]): string {
  const cases = places.map(
    ({ path, commands, options }) =>
      `    ${quote(path)}) words=${quote(words(commands))}; options=${quote(words(options))} ;;`,
  );
  return `# Completion of cdui for bash.
_cdui() {
  local current=\${COMP_WORDS[COMP_CWORD]} place="" next i words options
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -* ]] && continue
    next="\${place:+$place }\${COMP_WORDS[i]}"
    case "$next" in
      ${places
        .slice(1)
        .map(({ path }) => quote(path))
        .join('|')}) place=$next ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _cdui cdui
`;
}

function zsh(places: readonly Place[]): string {
  const item = ({ word, description }: Word): string => quote(`${word.replaceAll(':', '\\:')}:${description}`);
  const cases = places.map(
    ({ path, commands, options }) =>
      `    (${quote(path)}) words_here=(${commands.map(item).join(' ')}); options_here=(${options.map(item).join(' ')}) ;;`,
  );
  return `#compdef cdui
# Completion of cdui for zsh.
_cdui() {
  local place="" next word
  local -a words_here options_here
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    next="\${place:+$place }$word"
    case "$next" in
      (${places
        .slice(1)
        .map(({ path }) => quote(path))
        .join('|')}) place=$next ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe 'option' options_here
  elif (( \${#words_here} )); then
    _describe 'command' words_here
  else
    _files
  fi
}
if [[ "$funcstack[1]" == "_cdui" ]]; then _cdui "$@"; else compdef _cdui cdui; fi
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const here = `-n ${quote(`__cdui_at ${quote(path)}`)}`;
    return [
      ...commands.map(({ word, description }) => `complete -c cdui -f ${here} -a ${word} -d ${quote(description)}`),
      ...options.map(({ word, description }) => {
        const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
        return `complete -c cdui ${here} ${flag} -d ${quote(description)}`;
      }),
    ];
  });
  return `# Completion of cdui for fish.
function __cdui_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l next (string trim "$place $word")
    contains -- $next ${places
      .slice(1)
      .map(({ path }) => quote(path))
      .join(' ')}; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

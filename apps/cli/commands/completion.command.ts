import { Injectable } from '@nestjs/common';
import type { Command as Commander } from 'commander';
import { Command, InjectCommander } from 'nest-commander';
import { helpAfter, ProgramCommand } from '../program';

@Injectable()
@Command({
  name: 'completion',
  arguments: '<shell>',
  argsDescription: { shell: 'bash, zsh or fish' },
  description: 'Print a script that lets a shell complete cdui',
})
export class CompletionCommand extends ProgramCommand {
  constructor(@InjectCommander() private readonly root: Commander) {
    super();
  }

  override setCommand(command: Commander): this {
    helpAfter(command, [
      'cdui completion bash > ~/.local/share/bash-completion/completions/cdui',
      'cdui completion zsh > "${fpath[1]}/_cdui"',
      'cdui completion fish > ~/.config/fish/completions/cdui.fish',
    ]);
    return super.setCommand(command);
  }

  override async run([shell]: string[]): Promise<void> {
    const { completionScript, SHELLS } = await import('../completion/scripts.js');
    const script = completionScript(shell!, this.root);
    if (script === null) {
      this.command.error(`error: no completion for '${shell}': give one of ${SHELLS.join(', ')}`, {
        code: 'commander.invalidArgument',
      });
    }
    process.stdout.write(script);
  }
}

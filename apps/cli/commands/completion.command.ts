import { Injectable } from '@nestjs/common';
import type { Command as Commander } from 'commander';
import { Command, InjectCommander } from 'nest-commander';
import { EXIT } from '../exit-codes';
import { helpAfter } from '../program';
import { ReportingCommand } from './reporting-command';

@Injectable()
@Command({
  name: 'completion',
  arguments: '<shell>',
  argsDescription: { shell: 'bash, zsh or fish' },
  description: 'Print a script that lets a shell complete cdui',
})
export class CompletionCommand extends ReportingCommand {
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

  protected override async work([shell]: readonly string[]): Promise<number> {
    const { completionScript, SHELLS } = await import('../completion/scripts.js');
    const script = completionScript(shell!, this.root);
    if (script === null) {
      this.command.error(`error: no completion for '${shell}': give one of ${SHELLS.join(', ')}`, {
        code: 'commander.invalidArgument',
      });
    }
    process.stdout.write(script);
    return EXIT.ok;
  }
}

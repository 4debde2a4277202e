import { Command, Option, SubCommand } from 'nest-commander';
import { CommandGroup } from '../program';
import { ReportingCommand, type ReportingOptions } from './reporting-command';

interface BackupOptions extends ReportingOptions {
  readonly force?: boolean;
}

@SubCommand({
  name: 'backup',
  arguments: '<file>',
  argsDescription: { file: 'where the copy goes' },
  description: 'Copy the database into a file, while a server runs or not',
})
export class DbBackupCommand extends ReportingCommand<BackupOptions> {
  protected override async work([file]: readonly string[], options: BackupOptions): Promise<number> {
    return (await import('../server/backup.js')).backUp(file!, options);
  }

  @Option({ flags: '--force', description: 'overwrite the file' })
  force(): boolean {
    return true;
  }
}

@Command({ name: 'db', description: "Look after the server's database", subCommands: [DbBackupCommand] })
export class DbCommand extends CommandGroup {}

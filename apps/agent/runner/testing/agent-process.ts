import { readFileSync } from 'node:fs';
import type { AssignFrame } from '@cdui/protocol';
import { ProcessLauncher } from '../process-launcher';
import { strays } from '../strays';

/*
 * An agent that may be killed: launches the runs of the assignments in a file, as `{agentFolder, customNodes, spare, assignments}`, and writes a line
 * for each frame.
 */
interface Plan {
  readonly agentFolder: string;
  readonly customNodes: string | null;
  readonly spare?: number;
  readonly assignments: readonly AssignFrame[];
}

strays.adopt();
const { agentFolder, customNodes, spare = 0, assignments } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Plan;
const launcher = new ProcessLauncher({ agentFolder, customNodes, presets: null, environment: process.env, spare });
for (const assignment of assignments) {
  launcher.launch(assignment, {
    frame: (type) => process.stdout.write(`${type}\n`),
    drained: () => new Promise((resolve) => process.stdout.once('drain', resolve)),
  });
}
// It lives until it is killed.
setInterval(() => undefined, 60_000);

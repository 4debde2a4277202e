import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '@cdui/host';

/** How many processes come of the program. */
export const BROOD = 20;

/**
 * Starts processes that do not want to be found or ended: in sessions of their own, left behind by parents that are gone, deaf to SIGTERM, stuck in a
 * write to a full pipe, without the environment they came with. Each writes its number into the file.
 */
const PROGRAM = `
import os, signal, sys, time
path, marked = sys.argv[1:3]
def leaf(index):
    if index % 2 == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(path, 'a') as file:
        stat = open('/proc/self/stat').read()
        file.write(str(os.getpid()) + ' ' + stat[stat.rindex(')') + 2:].split()[19] + '\\n')
    if index % 5 == 0:
        read, write = os.pipe()
        while True:
            os.write(write, b'x' * 65536)
    while True:
        time.sleep(1000)
if len(sys.argv) > 3:
    leaf(int(sys.argv[3]))
for index in range(${BROOD}):
    if os.fork() > 0:
        continue
    if index % 4 in (1, 2):
        os.setsid()
    if index % 4 in (2, 3) and os.fork() > 0:
        os._exit(0)
    if index % 7 == 3:
        environment = dict(os.environ) if marked == '1' else {}
        os.execve(sys.executable, [sys.executable, sys.argv[0], path, marked, str(index)], environment)
    leaf(index)
`;

/** A custom node's body that starts them, waits for all, says "ready", and goes on as its param \`key\` says. */
export function broodNode(folder: string): string {
  const script = join(folder, 'brood.py');
  writeFileSync(script, PROGRAM);
  return `
    const { existsSync, readFileSync } = require('node:fs');
    const list = ${JSON.stringify(listPath(folder))};
    require('node:child_process').spawn('python3', [${JSON.stringify(script)}, list, String(params.int('amount'))], { stdio: 'inherit' });
    const count = () => (existsSync(list) ? readFileSync(list, 'utf8').split('\\n').length - 1 : 0);
    while (count() < ${BROOD}) await new Promise((go) => setTimeout(go, 5));
    console.log('ready');
    if (params.text('key') === 'spin') while (true);
    if (params.text('key') === 'wait') await new Promise(() => undefined);
    return { value: 1 };`;
}

export function listPath(folder: string): string {
  return join(folder, 'brood.txt');
}

/** Those that were started, with what tells them from later processes of the same number. */
export function brood(folder: string): readonly { readonly pid: number; readonly start: string }[] {
  const lines = readFileSync(listPath(folder), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [pid = '', start = ''] = line.split(' ');
    return { pid: Number(pid), start };
  });
}

export function alive(folder: string): readonly number[] {
  return brood(folder)
    .filter(({ pid, start }) => isAlive(pid, start))
    .map(({ pid }) => pid);
}

import { Api } from '../client/api';
import type { ServerChoice } from '../commands/server-command';
import { EXIT } from '../exit-codes';
import { colourStyle, plainStyle, type Style, wantsColour } from '../graph-run/style';
import { drainLines, workerLines, workerTable } from './worker-lines';

/** What the commands about workers do; each returns the process's exit code. */

const print = (lines: readonly string[]): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(''));
const document = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
const style = (): Style => (wantsColour(process.stdout.isTTY, process.env) ? colourStyle : plainStyle);
const apiOf = (choice: ServerChoice): Api => new Api(choice, process.env);

export async function listWorkers(options: ServerChoice): Promise<number> {
  const list = await apiOf(options).read((client, signal) => client.get('/api/workers', { signal }));
  if (options.json) document(list);
  else print(workerTable(list, Date.now(), style()));
  return EXIT.ok;
}

export async function showWorker(id: string, options: ServerChoice): Promise<number> {
  const worker = await apiOf(options).read((client, signal) =>
    client.get('/api/workers/{id}', { path: { id }, signal }),
  );
  if (options.json) document(worker);
  else print(workerLines(worker, Date.now(), style()));
  return EXIT.ok;
}

/** Has a worker take no new runs, or take them again. */
export async function drainWorker(id: string, drained: boolean, options: ServerChoice): Promise<number> {
  const route = drained ? '/api/workers/{id}/drain' : '/api/workers/{id}/undrain';
  const worker = await apiOf(options).order((client, signal) => client.post(route, { path: { id }, signal }));
  if (options.json) document(worker);
  else print(drainLines(worker));
  return EXIT.ok;
}

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '@cdui/host/make-folder';
import { TERMINAL_EVENTS } from '@cdui/protocol';
import { Api, type Artifact, type RunEvent, type RunListQuery } from '../client/api';
import { persistently } from '../client/persistence';
import type { ServerChoice } from '../commands/server-command';
import { EXIT } from '../exit-codes';
import { Failure, reportFailure } from '../failure';
import { notWritten } from '../file-failure';
import { colourStyle, plainStyle, type Style, wantsColour } from '../graph-run/style';
import { viewOf, waitFor } from '../run/submit-run';
import { cut, printable } from '../terminal/table';
import { readConsoleLog } from './console-log';
import { LogLines } from './log-lines';
import { resolveRun } from './resolve-run';
import { artifactTable, metricTable, runLines, runTable } from './run-lists';

/** What the commands about runs do; each returns the process's exit code. */

const style = (): Style => (wantsColour(process.stdout.isTTY, process.env) ? colourStyle : plainStyle);
const print = (lines: readonly string[]): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(''));
const document = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
const apiOf = (choice: ServerChoice): Api => new Api(choice, process.env);

/** Ctrl+C ends whoever follows. */
function untilInterrupted(): AbortSignal {
  const ended = new AbortController();
  void once(process, 'SIGINT').then(() => ended.abort());
  return ended.signal;
}

/** What a follower says aside, so that standard output holds only what it follows. */
const aside = {
  lost: (reason: string): void => void process.stderr.write(`${reason.split('. ')[0]}: waiting for it to come back\n`),
  back: (): void => void process.stderr.write('the server is back\n'),
};

export async function listRuns(query: NonNullable<RunListQuery>, options: ServerChoice): Promise<number> {
  const api = apiOf(options);
  const list = await api.read((client, signal) => client.get('/api/runs', { query, signal }));
  if (options.json) document(list);
  else print(runTable(list.runs, list.total, list.offset, Date.now(), style()));
  return EXIT.ok;
}

export async function showRun(text: string, options: ServerChoice & { readonly graph?: boolean }): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const run = await api.run(id);
  if (options.graph) document(run.graph);
  else if (options.json) document({ ...run, artifacts: await api.artifacts(id) });
  else print(runLines(run, await api.artifacts(id), Date.now(), style()));
  return EXIT.ok;
}

export async function showLog(
  text: string,
  options: ServerChoice & { readonly follow?: boolean; readonly search?: string },
): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const { search } = options;
  if (search !== undefined) {
    const found = await api.read((client, signal) =>
      client.get('/api/runs/{id}/log/search', { path: { id }, query: { q: search, limit: 1000 }, signal }),
    );
    if (options.json) document(found);
    else print(found.matches.map(({ line, text }) => `${line}: ${printable(text)}`));
    return found.matches.length > 0 ? EXIT.ok : EXIT.failed;
  }
  const lines = new LogLines();
  const write = async (bytes: Uint8Array, offset: number): Promise<void> => {
    const out = options.json ? jsonLines(lines.add(bytes, offset)) : bytes;
    if (!process.stdout.write(out)) await once(process.stdout, 'drain');
  };
  const signal = untilInterrupted();
  try {
    const dropped = await readConsoleLog(api, id, options.follow ?? false, write, aside, signal);
    process.stdout.write(jsonLines(lines.end()));
    if (dropped > 0) process.stderr.write(`${dropped} bytes in the middle of this log were not kept\n`);
  } catch (error) {
    if (!signal.aborted) throw error;
    return EXIT.interrupted;
  }
  return EXIT.ok;
}

function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

export async function showEvents(
  text: string,
  options: ServerChoice & { readonly follow?: boolean; readonly cursor?: number },
): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const signal = untilInterrupted();
  const persistence = { relocate: () => api.relocate(), connection: aside, signal };
  try {
    for (let cursor = options.cursor ?? 0; ;) {
      const ask = () => api.events(id, cursor, options.follow ? 25 : 0, signal);
      const page = await (options.follow ? persistently(ask, persistence) : ask());
      for (const event of page.events) print([options.json ? JSON.stringify(event) : eventLine(event)]);
      if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
      cursor = page.cursor;
      const last = page.events.at(-1)?.type;
      if (TERMINAL_EVENTS.some((type) => type === last)) return EXIT.ok;
      if (page.events.length === 0 && (!options.follow || !page.active)) return EXIT.ok;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return EXIT.interrupted;
  }
}

function eventLine({ cursor, ts, type, payload }: RunEvent): string {
  return `${String(cursor).padStart(6)}  ${ts}  ${type.padEnd(18)}  ${cut(JSON.stringify(payload), 160)}`;
}

export async function showMetrics(
  text: string,
  options: ServerChoice & { readonly name?: string; readonly csv?: boolean },
): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const query = { ...(options.name !== undefined && { name: options.name }) };
  if (options.csv) {
    const response = await api.read((client) =>
      client.raw('/api/runs/{id}/metrics', { path: { id }, query: { ...query, format: 'csv' } }),
    );
    await pipeline(Readable.from(response.body ?? []), process.stdout, { end: false });
    return EXIT.ok;
  }
  const metrics = await api.read((client, signal) =>
    client.get('/api/runs/{id}/metrics', { path: { id }, query, signal }),
  );
  if (options.json) document(metrics);
  else print(metricTable(metrics.metrics));
  return EXIT.ok;
}

export async function showArtifacts(
  text: string,
  options: ServerChoice & { readonly kind?: string; readonly download?: string },
): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const artifacts = await api.artifacts(id, options.kind);
  if (options.download === undefined) {
    if (options.json) document({ run_id: id, artifacts });
    else print(artifactTable(artifacts));
    return EXIT.ok;
  }
  const folder = resolve(options.download);
  await makeFolder(folder);
  const files: { readonly id: string; readonly file: string }[] = [];
  for (const artifact of artifacts) files.push({ id: artifact.id, file: await download(api, id, artifact, folder) });
  if (options.json) document({ run_id: id, files });
  else print(files.map(({ file }) => file));
  return EXIT.ok;
}

/** Never overwrites: two artifacts may have one name, and so may a file of the user's. */
async function download(api: Api, id: string, { id: artifactId, path }: Artifact, folder: string): Promise<string> {
  const wanted = basename(path.replaceAll('\\', '/')) || artifactId;
  const response = await api.order((client) =>
    client.raw('/api/runs/{id}/artifacts/{artifactId}/download', { path: { id, artifactId } }),
  );
  for (const name of [wanted, `${artifactId.slice(0, 8)}-${wanted}`, `${artifactId}-${wanted}`]) {
    const file = join(folder, name);
    const target = createWriteStream(file, { flags: 'wx' });
    try {
      await once(target, 'open');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      await response.body?.cancel();
      throw notWritten(file, error);
    }
    try {
      await pipeline(Readable.from(response.body ?? []), target);
      return file;
    } catch (error) {
      // A part would look like the whole.
      await rm(file, { force: true });
      if ((error as NodeJS.ErrnoException).syscall === 'write') throw notWritten(file, error);
      throw new Failure('download_failed', `${wanted} broke off while it was fetched: is the server still there?`);
    }
  }
  await response.body?.cancel();
  throw new Failure('file_exists', `${join(folder, wanted)} is there already: name another folder`);
}

/** Does something to each run and says what came of it. One that cannot be does not keep the others from it. */
async function forEach(
  texts: readonly string[],
  options: ServerChoice,
  act: (api: Api, id: string) => Promise<{ readonly answer: unknown; readonly line: string }>,
): Promise<number> {
  const api = apiOf(options);
  const answers: unknown[] = [];
  let code: number = EXIT.ok;
  for (const text of texts) {
    try {
      const { answer, line } = await act(api, await resolveRun(api, text));
      answers.push(answer);
      if (!options.json) print([line]);
    } catch (error) {
      // With one run there is one document, of its answer or of its failure.
      if (options.json && texts.length === 1) throw error;
      code = reportFailure(error, false);
    }
  }
  if (options.json) document(texts.length === 1 ? answers[0] : answers);
  return code;
}

export function cancelRuns(texts: readonly string[], options: ServerChoice): Promise<number> {
  return forEach(texts, options, async (api, id) => {
    const answer = await api.order((client, signal) => client.post('/api/runs/{id}/cancel', { path: { id }, signal }));
    const line = answer.cancelled
      ? `${id} ${answer.status === 'cancelled' ? 'cancelled' : 'is stopping'}`
      : `${id} had ended: ${answer.status}`;
    return { answer, line };
  });
}

export function deleteRuns(texts: readonly string[], options: ServerChoice): Promise<number> {
  return forEach(texts, options, async (api, id) => {
    const answer = await api.order((client, signal) => client.delete('/api/runs/{id}', { path: { id }, signal }));
    return { answer, line: `${id} deleted` };
  });
}

export async function moveRun(
  text: string,
  options: ServerChoice & { readonly before?: string; readonly position?: number },
): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const before = options.before === undefined ? (options.position ?? 1) : await resolveRun(api, options.before);
  const answer = await api.order((client, signal) =>
    client.post('/api/runs/{id}/move', { path: { id }, body: { before }, signal }),
  );
  if (options.json) document(answer);
  else print([answer.queue_position === null ? `${id} starts` : `${id} waits at position ${answer.queue_position}`]);
  return EXIT.ok;
}

export async function retryRun(text: string, options: ServerChoice & { readonly wait?: boolean }): Promise<number> {
  const api = apiOf(options);
  const id = await resolveRun(api, text);
  const answer = await api.order((client, signal) => client.post('/api/runs/{id}/retry', { path: { id }, signal }));
  if (!options.wait) {
    if (options.json) document(answer);
    else print([`${answer.run_id} ${answer.status}, a repetition of ${id}`]);
    return EXIT.ok;
  }
  const { name } = await api.run(answer.run_id);
  const view = viewOf(options.json ?? false);
  view.submitted({ runId: answer.run_id, name, status: answer.status, url: api.url });
  return waitFor(api, answer.run_id, view);
}

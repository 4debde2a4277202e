import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Database } from 'sqlite3';

/**
 * The probe beside submissions, in a process of its own: a bare HTTP server that parses each body, makes the same row of it and commits rows in groups as
 * durably, with no framework, checks or queue. Its argument is a folder.
 */
const MOST_IN_A_GROUP = 256;
const OPTIONS = {
  ...{ device: 'cpu', seed: null, deterministic: false, record_outputs: false, lane: 'queued', verbose: false },
  ...{ backward_mode: false, auto_backward: false, weights_persistent: false, graph_id: '', error_mode: 'fail_fast' },
  ...{ max_retries: 0, provenance: false, priority: 0, target: null },
};

async function main(folder: string): Promise<void> {
  const database = await new Promise<Database>((resolve, reject) => {
    const opened: Database = new Database(join(folder, 'raw.db'), (error) => (error ? reject(error) : resolve(opened)));
  });
  const exec = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => database.exec(sql, (error) => (error ? reject(error) : resolve())));
  await exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE runs (id text PRIMARY KEY NOT NULL, name text, lane text, options text, status text, queue_key text, queue_seq integer,
    created_at integer, graph text) WITHOUT ROWID`);
  const insert = database.prepare(`INSERT INTO runs VALUES (?, ?, 'queued', ?, 'queued', 'cpu', ?, ?, ?)`);
  const run = (values: readonly unknown[]): Promise<void> =>
    new Promise((resolve, reject) => insert.run(values, (error: Error | null) => (error ? reject(error) : resolve())));

  let waiting: { readonly values: readonly unknown[]; readonly done: () => void }[] = [];
  let committing = false;
  const commit = async (): Promise<void> => {
    committing = true;
    while (waiting.length > 0) {
      const group = waiting.slice(0, MOST_IN_A_GROUP);
      waiting = waiting.slice(MOST_IN_A_GROUP);
      await exec('BEGIN IMMEDIATE');
      await Promise.all(group.map(({ values }) => run(values)));
      await exec('COMMIT');
      for (const { done } of group) done();
    }
    committing = false;
  };

  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { graph } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly graph: { name: string } };
      count += 1;
      const id = count.toString(16).padStart(32, '0');
      const answer = JSON.stringify({ run_id: id, status: 'queued' });
      const done = (): void => void response.setHeader('content-type', 'application/json').end(answer);
      const values = [id, graph.name, JSON.stringify(OPTIONS), count, Date.now(), JSON.stringify(graph)];
      waiting.push({ values, done });
      if (!committing) void commit();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
  });
}

void main(process.argv[2]!);

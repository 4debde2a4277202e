import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Database } from 'sqlite3';
import { WebSocket, WebSocketServer } from 'ws';
import { frame } from './event-log';

/*
 * The probe beside a run on a worker: the same three processes with nothing in them. One writes frames, one appends them to a file and sends them
 * over a WebSocket, one inserts them into SQLite and says how far it is. `node raw-chain.js ROLE ...`.
 */

const CHUNK_FRAMES = 256;
const GROUP = 2048;

async function child(count: number): Promise<void> {
  for (let i = 0; i < count;) {
    let text = '';
    for (let n = 0; n < CHUNK_FRAMES && i < count; n++, i++) {
      text += `${JSON.stringify({ type: 'event', run_id: 'r', attempt: 1, seq: i + 1, at_ms: i, event: frame(i) })}\n`;
    }
    if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

async function relay(url: string, count: number, folder: string): Promise<void> {
  const spool = await open(join(folder, 'spool.jsonl'), 'a');
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve) => socket.once('open', resolve));
  const run = spawn(process.execPath, [__filename, 'child', String(count)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let rest = '';
  for await (const chunk of run.stdout) {
    const text = rest + (chunk as Buffer).toString('utf8');
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end === 0) continue;
    const lines = text.slice(0, end);
    await spool.write(lines);
    socket.send(`[${lines.trimEnd().replaceAll('\n', ',')}]`);
    while (socket.bufferedAmount > 1024 * 1024) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) =>
    socket.on('message', (data: Buffer) => Number(data.toString()) === count && resolve(0)),
  );
  socket.close();
  await spool.close();
}

/** Prints the address, then how long it took from the first frame until the last was durable. */
async function server(count: number, folder: string): Promise<void> {
  const database = await new Promise<Database>((resolve, reject) => {
    const opened: Database = new Database(join(folder, 'raw.db'), (error) => (error ? reject(error) : resolve(opened)));
  });
  const exec = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => database.exec(sql, (error) => (error ? reject(error) : resolve())));
  await exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
    CREATE TABLE events (run_id text NOT NULL, cursor integer NOT NULL, type text NOT NULL, payload text NOT NULL, ts integer NOT NULL,
    PRIMARY KEY (run_id, cursor)) WITHOUT ROWID`);
  const statement = database.prepare(
    `INSERT INTO events SELECT 'r', value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1)`,
  );
  const listener = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address() as { readonly port: number };
  process.stdout.write(`ws://127.0.0.1:${port}\n`);
  const pending: unknown[] = [];
  let stored = 0;
  let begun = 0;
  let committing = false;
  const commit = async (socket: WebSocket): Promise<void> => {
    committing = true;
    while (pending.length > 0) {
      const rows = pending.splice(0, GROUP);
      await exec('BEGIN IMMEDIATE');
      await new Promise<void>((resolve, reject) => {
        statement.run([JSON.stringify(rows)], (error: Error | null) => (error ? reject(error) : resolve()));
      });
      await exec('COMMIT');
      stored += rows.length;
      socket.send(String(stored));
      if (pending.length < 4 * GROUP) socket.resume();
    }
    committing = false;
    if (stored < count) return;
    process.stdout.write(`${performance.now() - begun}\n`);
    listener.close();
  };
  listener.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      begun ||= performance.now();
      const frames = JSON.parse(data.toString('utf8')) as {
        seq: number;
        at_ms: number;
        event: ReturnType<typeof frame>;
      }[];
      for (const { seq, at_ms: at, event } of frames)
        pending.push([seq, event.type, JSON.stringify(event.payload), at]);
      if (pending.length >= 8 * GROUP) socket.pause();
      if (!committing) void commit(socket);
    });
  });
}

/** @returns milliseconds from the first frame at the server until the last is durable */
export async function measureRawChain(count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-raw-'));
  const listening = spawn(process.execPath, [__filename, 'server', String(count), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(listening.stdout)[Symbol.asyncIterator]();
  const url = String((await lines.next()).value);
  spawn(process.execPath, [__filename, 'relay', url, String(count), folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ms = Number((await lines.next()).value);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return ms;
}

const [role, ...given] = process.argv.slice(2);
if (process.argv[1] === __filename) {
  if (role === 'child') void child(Number(given[0]));
  if (role === 'relay') void relay(given[0]!, Number(given[1]), given[2]!);
  if (role === 'server') void server(Number(given[0]), given[1]!);
}

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isAlive } from '@cdui/host';
import { Workplace } from '../testing/cdui';
import { until } from './until';

let place: Workplace;
beforeEach(() => (place = new Workplace()));
afterEach(() => place.remove());

/** The session of a process: one of its own survives the terminal. */
function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}

describe('cdui start, status and stop', () => {
  it('start it once, in a session of its own, show it and stop it', async () => {
    expect(await place.cdui('status')).toMatchObject({ code: 1, out: expect.stringContaining('cdui start') as string });
    const started = await place.cdui('start');
    const address = place.address!;
    expect(started).toMatchObject({ code: 0, out: expect.stringContaining(address.url) as string, err: '' });
    expect(sessionOf(address.pid)).toBe(address.pid);
    expect(statSync(join(place.data, 'session.token')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(place.data, 'server.pid'), 'utf8').trim()).toBe(String(address.pid));

    const again = await place.cdui('start', '--json');
    expect(again.code).toBe(0);
    expect(JSON.parse(again.out)).toMatchObject({ pid: address.pid, url: address.url, already_running: true });
    const elsewhere = await place.cdui('start', '--port', '9');
    expect(elsewhere).toMatchObject({ code: 1, out: '', err: expect.stringContaining('cdui stop') as string });

    const status = await place.cdui('status', '--json');
    expect(status.code).toBe(0);
    expect(JSON.parse(status.out)).toMatchObject({ state: 'running', pid: address.pid, boot_id: address.boot_id });
    expect((await place.cdui('status', '--once')).out).toMatch(/^running\n {2}address {4}http/);
    expect(readFileSync(join(place.data, 'server.log'), 'utf8')).toContain('"cdui stop" stops it.');

    const stopped = await place.cdui('stop');
    expect(stopped).toMatchObject({ code: 0, out: expect.stringMatching(/stopped after/) as string, err: '' });
    expect(isAlive(address.pid)).toBe(false);
    expect(place.address).toBeNull();
    expect(await place.cdui('stop')).toMatchObject({ code: 0, out: expect.stringContaining('No server') as string });
  });

  it('start one server, however many start it at once', async () => {
    const all = await Promise.all([1, 2, 3].map(() => place.cdui('start', '--json')));
    const ok = all.filter(({ code }) => code === 0).map(({ out }) => JSON.parse(out) as { pid: number });
    // Those that lost the race either saw the winner in time, or say who it is.
    expect(ok.length).toBeGreaterThanOrEqual(1);
    expect(new Set(ok.map(({ pid }) => pid))).toEqual(new Set([place.address!.pid]));
    for (const { code, out } of all) if (code !== 0) expect(out).toContain('Another server');
  });

  it('refuses a second server on the folder with a sentence that names the first', async () => {
    await place.cdui('start');
    const second = await place.cdui('start', '--foreground');
    expect(second.code).toBe(1);
    expect(second.err).toContain(`process ${place.address!.pid}, ${place.address!.url}`);
    expect(second.err).toContain(place.data);
  });

  it('says why a server does not start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { code, out, err } = await place.cdui('start', '--port', String((taken.address() as AddressInfo).port));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/did not start: it ended with 1\. It said:\n[^]*port is taken/);
    taken.close();
  });

  it('says that the database is of another program, ends, and leaves the file as it was', async () => {
    mkdirSync(join(place.data, 'data'), { recursive: true });
    const file = join(place.data, 'data', 'codefyui.db');
    writeFileSync(file, 'dear diary'.repeat(1000));
    const { code, out, err } = await place.cdui('start');
    expect({ code, out, address: place.address }).toEqual({ code: 1, out: '', address: null });
    expect(err).toMatch(/did not start: it ended with 1\. It said:\n[^]*codefyui\.db/);
    expect(readFileSync(file, 'utf8')).toBe('dear diary'.repeat(1000));
  });

  it('starts again after the server was killed, whatever it left behind', async () => {
    await place.cdui('start');
    const killed = place.address!;
    process.kill(killed.pid, 'SIGKILL');
    const again = await place.cdui('start');
    expect(again).toMatchObject({ code: 0, out: expect.not.stringContaining('already') as string });
    expect(place.address!.pid).not.toBe(killed.pid);
    expect(place.address!.boot_id).not.toBe(killed.boot_id);
  });

  it('never stops another process that has the number of a dead server', async () => {
    mkdirSync(place.data);
    const mine = {
      url: 'http://127.0.0.1:1',
      host: '127.0.0.1',
      port: 1,
      pid: process.pid,
      boot_id: 'x',
      version: '0',
    };
    writeFileSync(join(place.data, 'server.addr'), JSON.stringify(mine));
    writeFileSync(join(place.data, 'server.pid'), String(process.pid));
    writeFileSync(join(place.data, 'server.lock'), JSON.stringify({ pid: process.pid, started: '1', url: null }));
    expect(await place.cdui('stop')).toMatchObject({ code: 0, out: expect.stringContaining('No server') as string });
    expect((await place.cdui('start')).code).toBe(0);
    expect(place.address!.pid).not.toBe(process.pid);
  });

  it('says that a server is stopping while it is, and starts the next one when it has ended', async () => {
    mkdirSync(join(place.data, 'data', 'custom_nodes'), { recursive: true });
    const forever = `module.exports = () => ({ name: 'Forever', category: 'Mine', description: '', execute: () => new Promise(() => {}) });`;
    writeFileSync(join(place.data, 'data', 'custom_nodes', 'forever.js'), forever);
    await place.cdui('start');
    const { pid } = place.address!;
    const graph = {
      nodes: [
        { id: 's', type: 'Start' },
        { id: 'f', type: 'Forever' },
      ],
      edges: [{ source: 's', sourceHandle: 'trigger', target: 'f', type: 'trigger' }],
    };
    expect((await place.cdui('run', '--detach', place.file('g.json', graph))).code).toBe(0);
    const state = async (): Promise<string> =>
      (JSON.parse((await place.cdui('status', '--json')).out) as { state: string; runs: { running: number } | null })
        .state;
    await until(20_000, async () => ((await place.cdui('runs', 'list')).out.includes('running') ? true : null));
    process.kill(pid, 'SIGTERM');
    const next = place.cdui('start', '--json');
    expect(await until(20_000, async () => ((await state()) === 'running' ? null : state()))).toBe('stopping');
    expect(JSON.parse((await next).out)).toMatchObject({ already_running: false });
    expect([place.address!.pid === pid, isAlive(pid)]).toEqual([false, false]);
  });

  it('does not say of a server that hangs that it is starting', async () => {
    await place.cdui('start');
    const { pid } = place.address!;
    process.kill(pid, 'SIGSTOP');
    const status = await place.cdui('status', '--json');
    expect([status.code, (JSON.parse(status.out) as { state: string }).state]).toEqual([1, 'unresponsive']);
    process.kill(pid, 'SIGCONT');
    expect((await place.cdui('status', '--once')).code).toBe(0);
  });

  it('kills a server that does not listen, and says so', async () => {
    await place.cdui('start');
    const { pid } = place.address!;
    process.kill(pid, 'SIGSTOP');
    const { code, out } = await place.cdui('stop', '--timeout', '0.5');
    expect({ code, alive: isAlive(pid) }).toEqual({ code: 0, alive: false });
    expect(out).toContain('was killed');
    expect(place.address).toBeNull();
  });

  it('--foreground stays until it is asked to end', async () => {
    const server = place.spawn('start', '-f');
    await server.said('answers at');
    expect((await place.cdui('status', '--once')).code).toBe(0);
    server.child.kill('SIGTERM');
    await server.ended;
    expect((await place.cdui('status', '--once')).code).toBe(1);
  });

  it('puts a log aside that has become large', async () => {
    mkdirSync(place.data);
    writeFileSync(join(place.data, 'server.log'), 'x'.repeat(9 * 1024 * 1024));
    await place.cdui('start');
    expect(statSync(join(place.data, 'server.log.1')).size).toBe(9 * 1024 * 1024);
    expect(statSync(join(place.data, 'server.log')).size).toBeLessThan(1024 * 1024);
  });
});

import { plainStyle } from '../graph-run/style';
import type { Status } from './status';
import { statusLines } from './status-lines';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const GIB = 1024 ** 3;
const status: Status = {
  state: 'running',
  folder: '/home/me/.codefyui',
  url: 'http://127.0.0.1:8000',
  pid: 42,
  version: '3.1.0',
  boot_id: 'b',
  uptime_s: 3725,
  log: '/home/me/.codefyui/server.log',
  nodes_loaded: 59,
  presets_loaded: 2,
  broken_nodes: 0,
  cpu_percent: 151.6,
  memory_bytes: 1.5 * GIB,
  threads: 12,
  runs: {
    running: 1,
    queued: 30,
    shown: [
      {
        id: '0123456789abcdef0123456789abcdef',
        name: 'Digits\u001B[2J\nand more',
        status: 'running',
        queue_key: 'cpu',
        created_at: '2026-01-01T11:00:00Z',
        started_at: '2026-01-01T11:55:00Z',
      },
    ],
  },
  machine: {
    cpus: 2,
    load: 0.5,
    memory_bytes: 8 * GIB,
    memory_free_bytes: 4 * GIB,
    disk_bytes: 100 * GIB,
    disk_free_bytes: 50 * GIB,
  },
};

it('shows the server, the machine and the runs', () => {
  expect(statusLines(status, NOW, plainStyle)).toEqual([
    'running',
    '  address    http://127.0.0.1:8000',
    '  process    42, up 1 h 02 min',
    '  version    3.1.0',
    '  catalogue  59 nodes, 2 presets',
    '  uses       CPU 152 %, memory 1.5 GiB, 12 threads',
    '  folder     /home/me/.codefyui',
    '  log        /home/me/.codefyui/server.log',
    '  machine    2 CPUs, load 0.50; memory 4.0 GiB of 8.0 GiB free; disk 50.0 GiB of 100 GiB free',
    '',
    'Runs  1 running, 30 queued',
    '  ID        STATUS   DEVICE  FOR  NAME',
    // A name cannot clear the screen it is shown on.
    '  01234567  running  cpu     5m   Digits [2J and more',
  ]);
});

it('says what to do when there is no server, and shows what little is known of one that starts', () => {
  const nothing = { ...status, runs: null, cpu_percent: null, memory_bytes: null, threads: null, url: null };
  expect(statusLines({ ...nothing, state: 'stopped', pid: null }, NOW, plainStyle)[0]).toContain('cdui start');
  const starting = statusLines({ ...nothing, state: 'starting', version: null, nodes_loaded: null }, NOW, plainStyle);
  expect(starting.slice(0, 2)).toEqual(['starting', '  process    42, up 1 h 02 min']);
  expect(starting.join('\n')).not.toContain('Runs');
});

it('points at custom node files that cannot be used', () => {
  const lines = statusLines({ ...status, broken_nodes: 2 }, NOW, plainStyle);
  expect(lines).toContain('  broken     2 custom node files: see the log');
});

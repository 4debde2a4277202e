import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphFile } from '@cdui/protocol';
import { TestServer } from '../../apps/control-plane/testing/test-server';
import type { NormalEvent } from './normalise';
import { differences } from './normalise';
import { eventsOf } from './run-events';

const ROOT = join(__dirname, '../..');
const GRAPH = join(__dirname, 'parity.graph.json');
/** Made by this test with `CDUI_UPDATE_PARITY=1`. A change of it is a change of what every client reads. */
const SNAPSHOT = join(__dirname, 'single-node.events.json');

describe('a run on the server itself', () => {
  let events: readonly NormalEvent[];
  let snapshot: readonly NormalEvent[];

  beforeAll(async () => {
    const server = await TestServer.start({ CODEFYUI_EXAMPLES_DIR: join(ROOT, 'examples') });
    try {
      events = await eventsOf(server, JSON.parse(readFileSync(GRAPH, 'utf8')) as GraphFile);
    } finally {
      await server.close();
    }
    if (process.env['CDUI_UPDATE_PARITY']) writeFileSync(SNAPSHOT, `${JSON.stringify(events, null, 2)}\n`);
    snapshot = existsSync(SNAPSHOT) ? (JSON.parse(readFileSync(SNAPSHOT, 'utf8')) as readonly NormalEvent[]) : [];
  });

  it('stores the same events as ever', () => {
    expect(differences(events, snapshot)).toEqual([]);
  });

  it('does everything that the snapshot should show', () => {
    const types = new Set(snapshot.map(({ type }) => type));
    const expected = [
      'execution_start',
      'node_status',
      'inner_node_status',
      'metric',
      'artifact',
      'execution_complete',
    ];
    expect([...types].sort()).toEqual([...expected].sort());
    const kinds = [...JSON.stringify(snapshot).matchAll(/"output_kind":"(\w+)"/g)].map(([, kind]) => kind);
    expect([...new Set(kinds)].sort()).toEqual(['chart', 'image', 'progress', 'tensor_summary', 'text']);
  });

  it('notices an event that is missing, doubled, in the wrong place or changed', () => {
    events.forEach((event, index) => {
      const without = events.filter((_, other) => other !== index);
      expect(differences(without, snapshot)).not.toEqual([]);
      expect(differences([...events.slice(0, index), event, ...events.slice(index)], snapshot)).not.toEqual([]);
      expect(differences(events.with(index, { ...event, type: 'other' }), snapshot)).not.toEqual([]);
      if (index > 0) expect(differences([event, ...without], snapshot)).not.toEqual([]);
    });
  });
});

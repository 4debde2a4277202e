import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphFile } from '@cdui/protocol';
import { AgentProcess } from '../../apps/agent/testing/agent-process';
import { TestServer } from '../../apps/control-plane/testing/test-server';
import { eventsOf } from './run-events';

const ROOT = join(__dirname, '../..');
const GRAPH = join(__dirname, 'parity.graph.json');

describe('a run on a worker', () => {
  let server: TestServer;
  let agent: AgentProcess;

  beforeAll(async () => {
    server = await TestServer.start({ CODEFYUI_EXAMPLES_DIR: join(ROOT, 'examples') });
    agent = new AgentProcess(server.folder, 'parity', { args: ['--control', server.url] });
    await agent.prints(/Connected as worker parity/);
  });

  afterAll(async () => {
    await agent.end();
    await server.close();
  });

  it('stores the same events as one on the server itself, to the last digit', async () => {
    const graph = JSON.parse(readFileSync(GRAPH, 'utf8')) as GraphFile;
    const here = await eventsOf(server, graph);
    const there = await eventsOf(server, graph, { target: { worker: 'parity' } });
    expect(there).toEqual(here);
    expect(here.at(-1)?.type).toBe('execution_complete');
  });
});

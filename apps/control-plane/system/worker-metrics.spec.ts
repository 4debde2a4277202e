import { graphOf, writeCustomNodes } from '../testing/custom-nodes';
import { ScriptedAgent } from '../testing/scripted-agent';
import { TestServer } from '../testing/test-server';

let server: TestServer;
const agents: ScriptedAgent[] = [];
beforeAll(async () => {
  server = await TestServer.start({}, (folder) => writeCustomNodes(folder, { Give: 'return { value: 1 };' }));
});
afterAll(async () => {
  for (const agent of agents) agent.close();
  await server.close();
});

async function connect(...args: [string, Parameters<typeof ScriptedAgent.connect>[2]?]): Promise<ScriptedAgent> {
  const agent = await ScriptedAgent.connect(server, ...args);
  agents.push(agent);
  return agent;
}

/** The figures of workers, without their common prefix, once those that are named are so. */
async function figures(expected: Readonly<Record<string, number>>): Promise<Readonly<Record<string, number>>> {
  for (;;) {
    const { text } = await server.get('/metrics');
    const all = [...text.matchAll(/^codefyui_worker(\S+) (\d+)$/gm)].map(([, name, value]) => [name!, Number(value)]);
    const found = Object.fromEntries(all) as Record<string, number>;
    if (Object.entries(expected).every(([name, value]) => found[name] === value)) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

it('tells Prometheus who is there, what they have, and what passed between them and the server', async () => {
  expect(await figures({})).toEqual({
    ...{ 's{status="online"}': 0, 's{status="offline"}': 0, 's{status="disconnected"}': 0, s_draining: 0, _runs: 0 },
    ...{ _frames_total: 0, _frames_refused_total: 0, _acks_total: 0, _reconnects_total: 0 },
  });
  const one = await connect('one');
  const two = await connect('two');
  // Each has said which runs it has.
  await figures({ 's{status="online"}': 2, _frames_total: 2 });
  const body = { graph: graphOf('Give'), options: { target: { worker: 'one' } } };
  await server.post('/api/runs', body);
  const assign = await one.of('assign');
  await figures({ _runs: 1 });
  one.report(assign, 1, 'run_started', { visible_devices: null, device_aliases: {} });
  await one.of('ack');
  await figures({ _acks_total: 1, _frames_total: 3 });
  two.report(assign, 1, 'run_started', { visible_devices: null, device_aliases: {} });
  await figures({ _frames_refused_total: 1, _frames_total: 4 });
  await server.post('/api/workers/two/drain', {});
  await figures({ s_draining: 1 });
  one.close();
  two.close();
  await figures({ 's{status="disconnected"}': 1, 's{status="offline"}': 1, 's{status="online"}': 0, _runs: 1 });
  await connect('one', [{ run_id: assign.run_id, attempt: 1, last_seq: 1 }]);
  await figures({ 's{status="online"}': 1, _reconnects_total: 1, s_draining: 1 });
});

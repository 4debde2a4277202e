import { join } from 'node:path';
import { OutputStore } from '@cdui/outputs';
import type { RunOptions } from '@cdui/protocol';
import { times } from '../../testing/long';
import type { HostSession } from './client';
import { RunHosts } from './client';
import { runIn, trainingGraph } from './testing/session-runs';
import { chain, Workplace } from './testing/workplace';

const NODES = {
  Give: `return { value: params.int('amount') };`,
  Exit: `process.exit(7);`,
  Spin: `const end = Date.now() + params.int('amount'); while (Date.now() < end); return { value: 1 };`,
  Live: `return { value: (await context.runtime.memory()).liveHandles };`,
};

describe('a session', () => {
  let workplace: Workplace;
  let hosts: RunHosts;
  let session: HostSession;

  beforeAll(() => {
    workplace = new Workplace(NODES);
  });
  beforeEach(() => {
    hosts = new RunHosts({ threads: 1, graceMs: 300 });
    session = hosts.session();
  });
  afterEach(() => hosts.close());
  afterAll(() => workplace.remove());

  describe('keeps results', () => {
    const graph = chain(['a', 'Give', { amount: 1 }], ['b', 'Give', { amount: 2 }]);
    const computed = ['a:running', 'a:completed', 'b:running', 'b:completed'];

    it('and computes only what changed, is said to have changed, or was cleared', async () => {
      const run = async (options: RunOptions = {}) => (await runIn(session, workplace, graph, options)).trail;
      expect(await run()).toEqual(computed);
      expect(await run()).toEqual(['a:cached', 'b:cached']);
      expect(await run({ changed_nodes: ['b'] })).toEqual(['a:cached', 'b:running', 'b:completed']);
      expect(await run({ changed_nodes: ['a'] })).toEqual(['a:running', 'a:completed', 'b:cached']);
      expect(await run({ verbose: true })).toEqual(computed);
      session.clearCache();
      expect(await run()).toEqual(computed);
    });

    it('of another session: none', async () => {
      await runIn(session, workplace, graph);
      expect((await runIn(hosts.session(), workplace, graph)).trail).toEqual(computed);
    });

    it('and records those that it takes from its cache', async () => {
      const store = new OutputStore(join(workplace.folders.data, 'outputs'));
      await runIn(session, workplace, graph);
      const { trail, warnings } = await runIn(session, workplace, graph, { record_outputs: true }, 'r2');
      expect([trail, warnings]).toEqual([['a:cached', 'b:cached'], []]);
      expect(await store.read('r2', 'b', 'value')).toMatchObject({ value: 2 });
    });
  });

  describe('keeps weights', () => {
    const keep = { weights_persistent: true, graph_id: 'g', seed: 5 };

    async function losses(options: RunOptions = keep, graph = trainingGraph(), used = session) {
      const { outcome, warnings, metric } = await runIn(used, workplace, graph, options);
      expect([outcome.error, warnings]).toEqual([null, []]);
      return metric('train_loss');
    }

    it('so that two runs of three epochs are one of six', async () => {
      const six = await losses({ seed: 5 }, trainingGraph({ epochs: 6 }));
      expect(six).toHaveLength(6);
      expect([...(await losses()), ...(await losses())]).toEqual(six);
    });

    it('only where it is asked for, and those that are kept stay as they were', async () => {
      const first = await losses({ seed: 5 });
      expect(await losses({ seed: 5 })).toEqual(first);
      expect(await losses()).toEqual(first);
      const second = await losses();
      expect(second[0]).toBeLessThan(first.at(-1)!);
      expect(await losses({ seed: 5 })).toEqual(first);
      expect((await losses())[0]).toBeLessThan(second.at(-1)!);
    });

    it('of one graph and one structure', async () => {
      const first = await losses();
      expect(await losses({ ...keep, graph_id: 'another' })).toEqual(first);
      await losses(keep, trainingGraph({ hidden: 5 }));
      expect(await losses()).toEqual(first);
    });

    it('of layer nodes, so that equal inputs give equal outputs', async () => {
      const graph = {
        nodes: [
          { id: 'start', type: 'Start' },
          {
            id: 'x',
            type: 'TensorInput',
            data: { params: { value_mode: 'explicit', shape: '1,2', values: [[1, 2]] } },
          },
          { id: 'fc', type: 'Linear', data: { params: { in_features: 2, out_features: 3 } } },
        ],
        edges: [
          { source: 'start', sourceHandle: 'trigger', target: 'x', type: 'trigger' },
          { source: 'x', sourceHandle: 'tensor', target: 'fc', targetHandle: 'tensor' },
        ],
      };
      const output = async (options: RunOptions) => {
        const { outcome } = await runIn(session, workplace, graph, options);
        return outcome.final_outputs?.find(({ node_id: node }) => node === 'fc')?.summary['values'];
      };
      const kept = { weights_persistent: true, graph_id: 'layers' };
      const first = await output(kept);
      expect(await output(kept)).toEqual(first);
      expect(await output({ ...kept, backward_mode: true, auto_backward: true })).toEqual(first);
      expect(await output({})).not.toEqual(first);
      expect(await session.resetWeights('layers', ['fc'])).toBe(1);
      expect(await output(kept)).not.toEqual(first);
    });

    it('until they are reset, by graph or by node', async () => {
      const first = await losses();
      await losses({ ...keep, graph_id: 'h' });
      expect(await hosts.listWeights()).toEqual([
        { graph_id: 'g', node_id: 'network' },
        { graph_id: 'h', node_id: 'network' },
      ]);
      expect(await hosts.resetWeights('g', ['training'])).toBe(0);
      expect((await losses())[0]).toBeLessThan(first.at(-1)!);
      expect(await hosts.resetWeights('g')).toBe(1);
      expect(await losses()).toEqual(first);
      expect(await hosts.resetWeights('nobody')).toBe(0);
      expect(await session.listWeights()).toHaveLength(2);
    });

    it('to itself, but can be asked together with others', async () => {
      const first = await losses();
      const other = hosts.session();
      expect(await losses(keep, trainingGraph(), other)).toEqual(first);
      expect(await hosts.resetWeights('g')).toBe(2);
      await other.close();
      expect(await hosts.listWeights()).toEqual([]);
    });

    it('no longer when its thread is lost, and begins afresh', async () => {
      const first = await losses();
      const { outcome } = await runIn(session, workplace, chain(['x', 'Exit']));
      expect(outcome.reason?.code).toBe('run_host_exited');
      expect(await session.listWeights()).toEqual([]);
      expect(await losses()).toEqual(first);
    });

    it('and answers nothing while node code keeps its thread busy, but does what it was asked', async () => {
      await losses();
      const busy = runIn(session, workplace, chain(['s', 'Spin', { amount: 3_000 }]));
      const asked = await session.resetWeights('g');
      await busy;
      expect(await session.listWeights()).toEqual([]);
      // Whether the run had begun to spin when it was asked is a matter of luck: it is either the number or nothing.
      expect([0, 1]).toContain(asked);
    });
  });

  it('holds no more after many runs than after a few', async () => {
    const runs = times(60, 200);
    const training = trainingGraph({ epochs: 1 });
    const options = { weights_persistent: true, graph_id: 'g', record_outputs: true, seed: 1 };
    const handles: unknown[] = [];
    const memory: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const { outcome } = await runIn(session, workplace, training, options, `run${run % 5}`);
      expect(outcome.error).toBeNull();
      const live = await runIn(session, workplace, chain(['l', 'Live', { amount: run }]), { changed_nodes: ['l'] });
      handles.push(live.outcome.final_outputs?.find(({ node_id: node }) => node === 'l')?.summary['value']);
      memory.push(process.memoryUsage().rss / 1024 / 1024);
    }
    const settled = handles.slice(runs / 4);
    expect(new Set(settled)).toEqual(new Set([settled[0]]));
    const quarter = Math.floor(runs / 4);
    const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
    const drift = middle(memory.slice(-quarter)) - middle(memory.slice(quarter, 2 * quarter));
    if (process.env['CDUI_TEST_LONG'] === '1') console.log(`${runs} runs: ${drift.toFixed(1)} MiB more than at first`);
    expect(drift).toBeLessThan(64);
  }, 600_000);
});

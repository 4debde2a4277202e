import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import type { GraphFile } from '@cdui/protocol';
import { startAgent } from './agent/start-agent';
import { stopAgent } from './agent/stop-agent';
import { Api } from './client/api';
import { endWithReader } from './closed-output';
import { keepModel } from './demo/keep-model';
import { EXIT } from './exit-codes';
import { reportFailure } from './failure';
import { duration } from './graph-run/summary';
import { followRun } from './run/follow-run';
import type { EndedRun } from './run/run-end';
import { RunTextView } from './run/run-views';
import { startServer } from './server/start-server';
import { stopServer } from './server/stop-server';

const EXAMPLE = 'examples/mnist-cnn.graph.json';
const ALL_DIGITS = 60_000;
const QUICK_DIGITS = 5_000;
const STOP_GRACE_MS = 15_000;
const WORKER = 'demo';
const USAGE = 'Usage: npm run demo [-- --quick | -- --digits N]\n';

/** How many digits the arguments ask for; null when they make no sense. */
function digitsOf(args: readonly string[]): number | null {
  if (args.length === 0) return ALL_DIGITS;
  if (args.length === 1 && args[0] === '--quick') return QUICK_DIGITS;
  const digits = Number(args[1]);
  const right = args.length === 2 && args[0] === '--digits' && Number.isInteger(digits);
  return right && digits > 0 && digits <= ALL_DIGITS ? digits : null;
}

/**
 * `npm run demo [-- --quick]`: starts a server in a temporary folder on a free port and a worker beside it, queues the example network for any worker,
 * follows its run, and says how well it reads digits that it has not seen, and where it ran. The model is kept; all else is gone in the end.
 */
async function main(args: readonly string[]): Promise<number> {
  if (args.length === 1 && (args[0] === '--help' || args[0] === '-h')) {
    process.stdout.write(USAGE);
    return EXIT.ok;
  }
  const digits = digitsOf(args);
  if (digits === null) {
    process.stderr.write(
      `The demo does not know ${args.join(' ')}: give --quick, --digits 1 to ${ALL_DIGITS}, or nothing.\n${USAGE}`,
    );
    return EXIT.usage;
  }
  const root = programRoot();
  const keep = join(process.env['CODEFYUI_USER_DATA_DIR']?.trim() || join(root, '.codefyui'), 'data', 'models');
  const folder = mkdtempSync(join(tmpdir(), 'cdui-demo-'));
  // From here on that is the user's folder, for the server and the agent alike.
  process.env['CODEFYUI_USER_DATA_DIR'] = folder;
  const leave = new AbortController();
  const quiet = onSignals(leave);
  try {
    return await show(folder, { root, digits, keep }, leave.signal);
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    process.stdout.write('\nStopped.\n');
    return leave.signal.reason as number;
  } finally {
    await stopAgent({ name: WORKER });
    await stopServer(folder, STOP_GRACE_MS);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    quiet();
  }
}

interface Plan {
  readonly root: string;
  readonly digits: number;
  /** Where the model is kept. */
  readonly keep: string;
}

async function show(folder: string, { root, digits, keep }: Plan, signal: AbortSignal): Promise<number> {
  const begun = performance.now();
  const { env } = process;
  const { address } = await startServer({ folder, host: '127.0.0.1', port: 0, env });
  process.stdout.write(`Server: ${address.url}, in ${folder} until the demo is over\n`);
  await startAgent({ name: WORKER });
  process.stdout.write(`Worker: ${WORKER}, a process beside it that starts one of its own for each run\n`);
  const api = new Api({}, env);
  const graph = withDigits(JSON.parse(await readFile(join(root, EXAMPLE), 'utf8')) as GraphFile, digits);
  const name = graph.name ?? 'Demo';
  const body = { graph: { ...graph }, name, options: { target: { worker: 'any' } } };
  const submitted = await api.order((client) => client.post('/api/runs', { body, signal }), signal);
  const view = new RunTextView(process.stdout, process.env);
  view.submitted({ runId: submitted.run_id, name, status: submitted.status, url: api.url });
  const run = await followRun(api, submitted.run_id, 0, view, signal);
  const [artifacts, { worker_id: worker }] = await Promise.all([api.artifacts(run.id), api.run(run.id)]);
  if (run.status !== 'succeeded') {
    view.finished(run, artifacts);
    return EXIT.failed;
  }
  const model = artifacts.find(({ kind }) => kind === 'model');
  const kept = model === undefined ? null : await keepModel(api, run.id, model, keep);
  const lines = [
    `Trained on ${digits.toLocaleString('en-US')} digits for one epoch.`,
    `Accuracy   ${accuracyOf(run)}`,
    `Worker     ${worker ?? 'none: it ran on the server'}`,
    `Time       ${duration((performance.now() - begun) / 1000)}`,
    `Model      ${kept ?? 'not saved'}`,
  ];
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return EXIT.ok;
}

function accuracyOf({ final_metrics }: EndedRun): string {
  const value = final_metrics.find((metric) => metric.name === 'eval_accuracy')?.value;
  return typeof value === 'number' ? `${(value * 100).toFixed(2)} % of 10,000 digits it had not seen` : 'not measured';
}

function withDigits(graph: GraphFile, digits: number): GraphFile {
  if (digits === ALL_DIGITS) return graph;
  return {
    ...graph,
    nodes: graph.nodes.map((node) =>
      node.id === 'train_digits'
        ? { ...node, data: { ...node.data, params: { ...node.data?.params, limit: digits } } }
        : node,
    ),
  };
}

/** The server is in a session of its own: without this it would stay when the demo is interrupted. */
function onSignals(leave: AbortController): () => void {
  const interrupt = (): void => leave.abort(EXIT.interrupted);
  const terminate = (): void => leave.abort(128 + 15);
  process.on('SIGINT', interrupt).on('SIGTERM', terminate).on('SIGHUP', terminate);
  return () => process.off('SIGINT', interrupt).off('SIGTERM', terminate).off('SIGHUP', terminate);
}

endWithReader(process.stdout, process.stderr);
main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => (process.exitCode = reportFailure(error, false)),
);

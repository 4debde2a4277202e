import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { layerConfigs, ROOMS } from './layers.mjs';

const root = resolve(__dirname, '..');

const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: true,
  overrideConfig: [
    {
      files: ['**/*.ts'],
      languageOptions: { parser: tseslint.parser },
      plugins: { '@typescript-eslint': tseslint.plugin },
    },
    ...(layerConfigs() as ESLint.Options['overrideConfig'] & object[]),
  ],
});

/** The complaints about a file of that path with that text. */
async function complaints(path: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: join(root, path) });
  return result!.messages.map((message) => message.message);
}

describe('layers', () => {
  it.each([
    ['libs/engine/plan.ts', `import { NodeRegistry } from '@cdui/node-sdk';\nexport { NodeRegistry };`],
    ['libs/engine/plan.ts', `import type { TensorHandle } from '@cdui/tensor/runtime';\nexport type { TensorHandle };`],
    ['libs/engine/deep/er/plan.ts', `export { x } from '../../plan';`],
    [
      'libs/engine/seed.ts',
      `import { blake2b } from '@noble/hashes/blake2';\nimport 'node:path';\nexport { blake2b };`,
    ],
    ['libs/nodes/layers/linear.ts', `import { OPS } from '@cdui/tensor/runtime';\nexport { OPS };`],
    [
      'libs/tensor/onnx/runtime.ts',
      `import { entryPath } from '@cdui/host/entry';\nimport 'onnxruntime-node';\nexport { entryPath };`,
    ],
    ['libs/tensor/onnx/grad/conv.ts', `export * from '../../runtime';`],
    ['libs/run-host/host.ts', `import '@cdui/engine';\nimport '@cdui/tensor/onnx';`],
    [
      'apps/cli/graph-run.ts',
      `import type { RunHost } from '@cdui/run-host';\nexport const f = () => import('@cdui/run-host/index.js');\nexport type { RunHost };`,
    ],
    ['apps/agent/child/main.ts', `import '@cdui/run-host';\nimport '../connection';`],
    [
      'apps/control-plane/runs/local/executor.ts',
      `import '@cdui/run-host/client';\nexport const now = () => Date.now();`,
    ],
    ['apps/control-plane/runs/service.ts', `import '../events/event-log';\nimport 'rxjs';\nimport './local/machine';`],
    ['libs/engine/plan.spec.ts', `import '@cdui/nodes';\nimport '../../testing/graphs';`],
    ['libs/tensor/runtime/client/window.ts', `import '../ops';\nexport const now = () => performance.now();`],
    ['libs/run-host/client/start.ts', `export const f = () => import('@cdui/host/entry.js');`],
    [
      'libs/run-host/client/start.ts',
      `import type { Executor } from '@cdui/execution';\nimport type { ToWorker } from '@cdui/tensor/onnx/worker-protocol';\nexport type { Executor, ToWorker };`,
    ],
  ])('lets %s say %j', async (path, text) => {
    expect(await complaints(path, text)).toEqual([]);
  });

  it.each([
    ['a floor above', 'libs/engine/plan.ts', `import '@cdui/nodes';`],
    ['a floor above, exported on', 'libs/engine/plan.ts', `export * from '@cdui/run-host';`],
    ['a floor above, at run time', 'libs/engine/plan.ts', `export const f = () => import('@cdui/nodes');`],
    [
      'a value where only types are allowed',
      'libs/engine/plan.ts',
      `import { OPS } from '@cdui/tensor/runtime';\nexport { OPS };`,
    ],
    ['types of another part', 'libs/engine/plan.ts', `import type { T } from '@cdui/tensor/onnx';\nexport type { T };`],
    ['another room by a relative path', 'libs/engine/plan.ts', `import '../nodes/registry';`],
    ['another room by a relative path from deep down', 'libs/engine/a/b/plan.ts', `import '../../../nodes/registry';`],
    ['a name that only begins alike', 'libs/execution/sinks.ts', `import '@cdui/protocol-extra';`],
    ['the runtimes from the seam', 'libs/tensor/runtime/index.ts', `import '../onnx';`],
    ['the run host from the server', 'apps/control-plane/runs/local/executor.ts', `import '@cdui/run-host';`],
    [
      'the clock where runs are decided about',
      'apps/control-plane/runs/service.ts',
      `export const now = () => Date.now();`,
    ],
    ['a timer where runs are decided about', 'apps/control-plane/runs/service.ts', `setTimeout(() => undefined, 1);`],
    ['chance where runs are decided about', 'apps/control-plane/runs/service.ts', `export const x = Math.random();`],
    ['files where runs are decided about', 'apps/control-plane/runs/service.ts', `import 'node:fs';`],
    ['the database where runs are decided about', 'apps/control-plane/runs/service.ts', `import 'typeorm';`],
    ['the engine from the server', 'apps/control-plane/graphs/service.ts', `import '@cdui/engine';`],
    [
      'the run host statically from the command line',
      'apps/cli/graph-run.ts',
      `import { RunHost } from '@cdui/run-host';\nexport { RunHost };`,
    ],
    ['a runtime in the agent itself', 'apps/agent/runner.ts', `import '@cdui/run-host';`],
    ['a native package outside its room', 'libs/engine/plan.ts', `import 'onnxruntime-node';`],
    ['a framework in a library', 'libs/run-host/host.ts', `import '@nestjs/common';`],
    ['Node built-ins in a pure room', 'libs/protocol/frames.ts', `import 'node:fs';`],
    ['the clock in a pure room', 'libs/protocol/frames.ts', `export const now = () => Date.now();`],
    [
      'the clock on the wall where only the steady one is allowed',
      'libs/tensor/runtime/client/window.ts',
      `export const now = () => Date.now();`,
    ],
    ['chance in a pure room', 'libs/execution/events.ts', `export const id = () => Math.random();`],
  ])('refuses %s (%s)', async (_what, path, text) => {
    expect(await complaints(path, text)).toEqual([expect.stringContaining('tools/layers.mjs')]);
  });

  it('makes the lint command itself fail', () => {
    const lint = (text: string) =>
      spawnSync(
        process.execPath,
        ['node_modules/eslint/bin/eslint.js', '--stdin', '--stdin-filename', 'libs/engine/index.ts'],
        {
          cwd: root,
          input: text,
          encoding: 'utf8',
        },
      );
    const refused = lint(`import '@cdui/nodes';\n`);
    expect(refused.stdout).toContain('libs/engine may import');
    expect(refused.status).toBe(1);
    expect(lint(`import '@cdui/node-sdk';\n`)).toMatchObject({ status: 0, stdout: '' });
  }, 120_000);

  it('has a row for every library and app, and Nx knows the same neighbours', () => {
    for (const kind of ['libs', 'apps']) {
      for (const name of readdirSync(join(root, kind))) {
        const project = join(root, kind, name, 'project.json');
        if (!existsSync(project)) {
          continue;
        }
        const rows = Object.entries(
          ROOMS as Record<string, { values: string[]; types?: string[]; lazy?: string[] }>,
        ).filter(([folder]) => folder === `${kind}/${name}` || folder.startsWith(`${kind}/${name}/`));
        expect(rows.map(([folder]) => folder)).toContain(`${kind}/${name}`);
        const allowed = new Set(
          rows
            .flatMap(([, row]) => [...row.values, ...(row.types ?? []), ...(row.lazy ?? [])])
            .map((room) => room.split('/')[0]),
        );
        const declared = JSON.parse(readFileSync(project, 'utf8')).implicitDependencies as string[];
        expect({ name, notAllowed: declared.filter((other) => !allowed.has(other)) }).toEqual({ name, notAllowed: [] });
      }
    }
  });
});

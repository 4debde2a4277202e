import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath, programRoot } from '@cdui/host/entry';

/** Training in a process that has not heard of the setting. */
function train(folder: string): void {
  const { ORT_DISABLE_TELEMETRY: _, ...env } = process.env;
  const graph = join(programRoot(), 'examples/mlp-csv.graph.json');
  const args = [entryPath('apps/cli/main'), 'graph', 'run', graph, '--data-dir', join(folder, 'user')];
  execFileSync(process.execPath, args, { env: { ...env, TMPDIR: join(folder, 'tmp') }, stdio: 'pipe' });
}

describe('the native library', () => {
  it('collects nothing about its use: no file of it is left, which it makes before it reports', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cdui-quiet-'));
    try {
      execFileSync('mkdir', [join(folder, 'tmp')]);
      train(folder);
      expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is loaded by one module only, which sees to that', () => {
    const files = readdirSync(join(programRoot(), 'libs'), { recursive: true, encoding: 'utf8' });
    const loading = files.filter(
      (file) =>
        file.endsWith('.ts') &&
        /^(?:import|export) (?!type )[^;]*from 'onnxruntime-node'/m.test(
          readFileSync(join(programRoot(), 'libs', file), 'utf8'),
        ),
    );
    expect(loading).toEqual([join('tensor', 'onnx', 'ort.ts')]);
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Harness, planned, planOf } from '@cdui/engine/run/testing/harness';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import { builtinNodes } from '../builtin-nodes';
import { CustomNodeFolder } from './custom-node-folder';

it('runs the complete example of the documentation as it stands there', async () => {
  const page = readFileSync(join(__dirname, '../../../docs/contributing/add-a-node.md'), 'utf8');
  const [, code] = /```ts\n([^]*?)```/.exec(page)!;
  const folder = mkdtempSync(join(tmpdir(), 'cdui-documented-'));
  const runtime = await openOnnxRuntime({ device: 'cpu', threads: 1 });
  try {
    writeFileSync(join(folder, 'clip.ts'), code!);
    const { registry, problems } = new CustomNodeFolder({ folder, builtins: builtinNodes }).snapshot();
    expect(problems).toEqual([]);
    const harness = new Harness();
    const result = await harness.run({
      runtime,
      registry,
      plan: planOf(
        planned(
          't',
          'TensorInput',
          {},
          {
            shape: '2,2',
            value_mode: 'explicit',
            values: [
              [3, 0.5],
              [-0.5, -2],
            ],
          },
        ),
        planned('c', 'Clip', { tensor: 't.tensor' }),
      ),
    });
    expect(result).toMatchObject({ status: 'succeeded', error: null });
    expect(harness.observer.last('c')?.outputs?.[0]).toMatchObject({
      output_kind: 'text',
      text: '50 % of the elements were outside',
    });
  } finally {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
